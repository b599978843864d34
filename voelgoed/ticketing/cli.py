"""What `voelgoed tickets` reads and shows: a file in pieces, its progress, its faults."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import typer

from voelgoed.infra.refusal import Refusal
from voelgoed.ticketing.model.imports import FILE_BYTES_MAX, ImportFault, TicketImport

PIECE_BYTES = 256 * 1024
SHOWN_FAULTS_MAX = 50


class UnreadableFile(Refusal):
    """The file cannot be read."""


async def pieces_of(path: Path) -> AsyncIterator[bytes]:
    """Raises UnreadableFile."""
    try:
        with path.open("rb") as file:
            size = 0
            while piece := file.read(PIECE_BYTES):
                size += len(piece)
                if size > FILE_BYTES_MAX:
                    raise UnreadableFile(f"{path}: is longer than {FILE_BYTES_MAX} bytes; split it")
                yield piece
    except OSError as error:
        raise UnreadableFile(f"{path}: {error.strerror}") from None


def show_faults(path: Path, faults: Sequence[ImportFault], *, more: bool) -> None:
    for fault in faults:
        typer.echo(f"{path}:{fault.line}: {fault.field}: {fault.message}")
    if more:
        typer.echo("... and more; --faults FILE writes all of them")


def summary(imported: TicketImport) -> str:
    created = "would be imported" if imported.dry_run else "imported"
    return (
        f"{imported.rows_read} lines: {imported.created} {created}, "
        f"{imported.unchanged} there already, {imported.faulty} faulty"
    )
