"""One public class name, one class: whoever reads a name in a message or a search finds one meaning."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import voelgoed

PACKAGE = Path(voelgoed.__file__).parent
OTHER_PROGRAMS = {"device"}
"""The reference device is a program of its own and may share names with the server."""

KNOWN_CLASHES = {
    "Asked": {"demo/bank.py", "infra/web.py"},
    "Box": {"seating/forms/sheet.py", "ticketing/forms/pdf_layouts.py"},
    "Conflict": {"infra/refusal.py", "scanning/model/conflicts.py"},
    "Delivery": {"scanning/rules/deliveries.py", "ticketing/store/payments.py"},
    "Draft": {"seating/forms/draft.py", "ticketing/rules/imports.py"},
    "HeldSeat": {"seating/actions/seats.py", "ticketing/actions/hold_registry.py"},
    "House": {"demo/venues.py", "seating/rules/house.py"},
    "Layout": {"seating/model/layout.py", "ticketing/forms/pdf_layouts.py"},
    "Origin": {"accounts/model.py", "seating/forms/draft.py"},
    "Party": {"demo/parties.py", "ticketing/actions/hold_batch.py"},
    "Sale": {"demo/sales.py", "ticketing/actions/order_batch.py"},
    "SeatHold": {"seating/actions/seats.py", "ticketing/model/holds.py"},
    "Sheet": {"seating/forms/sheet.py", "ticketing/forms/sheet.py"},
    "Surroundings": {"ticketing/actions/faces.py", "ticketing/rules/ticket_types.py"},
    "Verdict": {"scanning/model/decisions.py", "seating/rules/selection.py"},
    "Versions": {"scanning/model/manifests.py", "seating/store/event_layouts.py"},
}
"""Names of the sales and seating domains, the demo and the refusals that are still to be changed. A
clash that is gone must leave this list, and no other may join it."""


def public_classes(package: Path) -> Iterator[tuple[str, str]]:
    """The name of each public class, and the file that defines it."""
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package)
        if file.parts[0] in OTHER_PROGRAMS:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, file.as_posix()


def clashes(package: Path) -> dict[str, list[str]]:
    files: defaultdict[str, list[str]] = defaultdict(list)
    for name, file in public_classes(package):
        files[name].append(file)
    return {name: found for name, found in files.items() if len(found) > 1}


def test_a_public_class_name_is_used_once_but_for_the_clashes_that_are_known() -> None:
    known = {name: sorted(files) for name, files in KNOWN_CLASHES.items()}
    assert clashes(PACKAGE) == known


def test_control_two_classes_with_one_name_are_found(tmp_path: Path) -> None:
    for folder in ("sales", "seats", "device"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "names.py").write_text("class Place: ...\nclass _Own: ...\n")
    assert clashes(tmp_path) == {"Place": ["sales/names.py", "seats/names.py"]}
