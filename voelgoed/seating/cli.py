"""`voelgoed layout`: layouts as files, without a database."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import typer

from voelgoed.infra.refusal import Refusal
from voelgoed.seating.forms.csv_form import read_csv, write_csv
from voelgoed.seating.forms.drawing import png, svg
from voelgoed.seating.forms.rows import Numbering
from voelgoed.seating.forms.text_form import read_text
from voelgoed.seating.forms.text_rows import NAMES_MAX, letters
from voelgoed.seating.model.layout import Fault, LayoutConfig, TextFault
from voelgoed.seating.model.refusals import InvalidLayout
from voelgoed.seating.rules.validation import check_config
from voelgoed.seating.samples import SAMPLES, sample

layout = typer.Typer(no_args_is_help=True, help="Layouts as files: JSON, CSV or text.")

Form = Literal["json", "csv", "text"]
Format = Literal["json", "csv"]

FORMS: dict[str, Form] = {".json": "json", ".csv": "csv", ".layout": "text", ".txt": "text"}
FILE_BYTES_MAX = 100_000_000
STANDARD = Path("-")
"""Standard input or output."""

File = Annotated[Path, typer.Argument(help=".json, .csv, .layout or .txt; - is standard input.")]


class UnreadableLayout(InvalidLayout):
    """This file cannot be read as a layout; `details.faults` says why."""

    def __init__(self, path: Path, faults: list[Fault]) -> None:
        self.faults = faults
        lines = [f"{path}: {fault.path}: {fault.message}" for fault in faults]
        super().__init__("\n".join(["The layout has faults.", *lines]), faults=faults)


class UnwritableFile(Refusal):
    """The file cannot be written."""


@layout.command()
def generate(
    name: Annotated[str | None, typer.Argument(help=f"A sample: {', '.join(SAMPLES)}.")] = None,
    rows: Annotated[str | None, typer.Option(help="How many, or names such as A-H,J-M.")] = None,
    seats: Annotated[str, typer.Option(help="28, or 8,12,8 with aisles between.")] = "20",
    numbering: Annotated[Numbering, typer.Option(help="Where number 1 is.")] = "left",
    curve: Annotated[float | None, typer.Option(help="The front row's radius, in seats.")] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="Of what is written; the file's suffix says it."),
    ] = None,
    output: Annotated[Path, typer.Option(help="A file; - is standard output.")] = STANDARD,
) -> None:
    """Write a sample layout, or one zone of equal rows, to begin with."""
    if (name is None) == (rows is None):
        raise typer.BadParameter(f"Say --rows, or one of {', '.join(SAMPLES)}.")
    if name is not None and name not in SAMPLES:
        raise typer.BadParameter(f"There is no sample {name!r}, only {', '.join(SAMPLES)}.")
    config = sample(name) if name else _equal_rows(rows or "", seats, numbering, curve)
    write_file(output, write_layout(config, form or format_of(output)).encode())


def format_of(path: Path) -> Format:
    """A file is what its suffix says; anything else is JSON."""
    return "csv" if path.suffix.lower() == ".csv" else "json"


def _equal_rows(rows: str, seats: str, numbering: Numbering, curve: float | None) -> LayoutConfig:
    if rows.isdecimal() and 1 <= int(rows) <= NAMES_MAX:
        rows = f"A-{letters(int(rows))}"
    lines = [
        "focus 0,-5",
        "zone seats reserved_seating Seats",
        "block at 0,0" + (f" curve {curve:.9g}" if curve is not None else ""),
        f'rows "{rows}" seats "{seats}" numbering {numbering}',
    ]
    config, faults = read_text("\n".join(lines))
    if config is None:
        raise typer.BadParameter("; ".join(fault.message for fault in faults))
    return config


@layout.command()
def validate(file: File) -> None:
    """Say whether a layout is sound, and everything that is wrong with it."""
    try:
        config = read_sound_layout(file)
    except UnreadableLayout as unreadable:
        for fault in unreadable.faults:
            typer.echo(f"{file}: {fault.path}: {fault.message}")
        raise typer.Exit(1) from None
    seats = sum(len(zone.seats) for zone in config.zones)
    places = sum(zone.capacity for zone in config.zones)
    typer.echo(f"{file}: sound; {len(config.zones)} zones, {seats} seats, {places} places")


@layout.command()
def preview(
    file: File,
    output: Annotated[Path, typer.Option(help="A .svg or .png file; - is SVG to standard output.")],
) -> None:
    """Draw a layout."""
    if output != STANDARD and output.suffix.lower() not in {".svg", ".png"}:
        raise typer.BadParameter("The picture is a .svg or a .png file.")
    config = read_sound_layout(file)
    is_png = output.suffix.lower() == ".png"
    write_file(output, png(config) if is_png else svg(config).encode())


def write_layout(config: LayoutConfig, form: Format) -> str:
    if form == "csv":
        return write_csv(config)
    return msgspec.json.format(msgspec.json.encode(config), indent=1).decode() + "\n"


def read_sound_layout(path: Path) -> LayoutConfig:
    """Raises UnreadableLayout, with every fault."""
    config, faults = check_config(read_layout(path))
    if config is None:
        raise UnreadableLayout(path, faults)
    return config


def read_layout(path: Path) -> dict[str, Any]:
    """A file's layout, for check_config. Raises UnreadableLayout, with every fault."""
    content = _read(path)
    form = FORMS.get(path.suffix.lower()) if path != STANDARD else _form_of(content)
    if form is None:
        known = ", ".join(FORMS)
        raise UnreadableLayout(path, [Fault("file", f"what is it? Known are {known}")])
    if form == "json":
        return _read_json(path, content)
    config, faults = read_csv(content) if form == "csv" else read_text(content)
    if config is None:
        raise UnreadableLayout(path, [_as_fault(fault) for fault in faults])
    return msgspec.to_builtins(config)


def _read(path: Path) -> str:
    try:
        return _bytes_of(path).decode("utf-8-sig")
    except OSError as error:
        fault = error.strerror or "cannot be read"
    except UnicodeDecodeError:
        fault = "is not UTF-8; a spreadsheet saves that as `CSV UTF-8`"
    raise UnreadableLayout(path, [Fault("file", fault)])


def _bytes_of(path: Path) -> bytes:
    if path == STANDARD:
        content = sys.stdin.buffer.read(FILE_BYTES_MAX + 1)
    else:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES_MAX + 1)
    if len(content) > FILE_BYTES_MAX:
        fault = Fault("file", f"is longer than {FILE_BYTES_MAX} bytes")
        raise UnreadableLayout(path, [fault])
    return content


def _form_of(content: str) -> Form:
    first = content.lstrip()[:200].lower()
    if first.startswith("{"):
        return "json"
    return "csv" if first.startswith(("kind", '"kind', "sep=")) else "text"


def _read_json(path: Path, content: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnreadableLayout(path, [Fault("$", f"is no JSON object: {error}")]) from None


def _as_fault(fault: TextFault) -> Fault:
    return Fault(f"line {fault.line}", fault.message)


def write_file(path: Path, content: bytes) -> None:
    """Raises UnwritableFile."""
    if path == STANDARD:
        typer.echo(content, nl=False)
        return
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UnwritableFile(f"{path}: {error.strerror}") from None
