"""`voelgoed layout` as a person meets it: files in, files out, every fault named."""

import json
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner, Result

from voelgoed.seating.cli import (
    UnreadableLayout,
    UnwritableFile,
    layout,
    read_layout,
    write_layout,
)
from voelgoed.seating.rules.validation import check_config
from voelgoed.seating.samples import SAMPLES, sample

BAD_TEXT = "zone hall reserved_seating Hall\nrow A 1-\nrow B one\n"


def run(*arguments: str | Path, given: str = "") -> Result:
    return CliRunner().invoke(layout, [str(argument) for argument in arguments], input=given)


def output_of(*arguments: str | Path, given: str = "") -> str:
    result = run(*arguments, given=given)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_generated_sample_reads_back_as_what_it_was(tmp_path: Path, name: str, form: str) -> None:
    file = tmp_path / f"venue.{form}"
    output_of("generate", name, "--format", form, "--output", file)
    assert check_config(read_layout(file)) == (sample(name), [])
    assert "sound" in output_of("validate", file)


def test_equal_rows_are_generated_from_options() -> None:
    options = ("--rows", "3", "--seats", "4,4", "--numbering", "odd-even", "--curve", "30")
    config = json.loads(output_of("generate", *options))
    [zone] = config["zones"]
    assert [seat["seat_id"] for seat in zone["seats"]][:8] == [
        *("A-7", "A-5", "A-3", "A-1"),
        *("A-2", "A-4", "A-6", "A-8"),
    ]
    assert {seat["row"] for seat in zone["seats"]} == {"A", "B", "C"}
    named = json.loads(output_of("generate", "--rows", "H-J,L"))
    assert {seat["row"] for seat in named["zones"][0]["seats"]} == {"H", "I", "J", "L"}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "Say --rows"),
        (("theatre", "--rows", "3"), "Say --rows"),
        (("cinema",), "no sample"),
        (("--rows", "3", "--seats", "0"), "seats is a whole number"),
        (("--rows", "A-3"), "no range of names"),
        (("--rows", "3", "--curve", "1"), "half a circle"),
        (("--rows", '"'), "is missing"),
    ],
)
def test_options_that_make_no_sense_are_explained(arguments: tuple[str, ...], reason: str) -> None:
    result = run("generate", *arguments)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.replace("│", " ").split())


def test_validate_names_every_fault_of_a_text_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "hall.layout"
    file.write_text(BAD_TEXT)
    result = run("validate", file)
    assert result.exit_code == 1
    one, other = result.stdout.splitlines()
    assert one.startswith(f"{file}: line 2: `1-` is no seat")
    assert other.startswith(f"{file}: line 3: `one` is no seat")


def test_validate_names_every_fault_of_json_with_its_path(tmp_path: Path) -> None:
    file = tmp_path / "hall.json"
    config = msgspec.to_builtins(sample("festival"))
    config["zones"][0]["capacity"] = 0
    config["colour"] = "red"
    file.write_text(json.dumps(config))
    result = run("validate", file)
    assert result.exit_code == 1
    assert {line.split(": ")[1] for line in result.stdout.splitlines()} == {
        "$.zones[0].capacity",
        "$.colour",
    }


@pytest.mark.parametrize("form", ["json", "csv"])
def test_standard_input_is_recognised_by_its_content(form: str) -> None:
    text = output_of("generate", "festival", "--format", form)
    assert output_of("validate", "-", given=text) == ("-: sound; 4 zones, 350 seats, 1050 places\n")
    text = "zone pit ga_standing Pit capacity 5"
    assert output_of("validate", "-", given=text) == "-: sound; 1 zones, 0 seats, 5 places\n"


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("hall.json", b"[]", "is no JSON object"),
        ("hall.json", b"[" * 100_000, "is no JSON object"),
        ("hall.csv", "Bühne".encode("latin-1"), "is not UTF-8"),
        ("hall.xlsx", b"PK", "what is it?"),
        ("hall.txt", b"", "zones: must have 1 or more entries"),
        ("hall.csv", b"", "zones: must have 1 or more entries"),
    ],
)
def test_a_file_that_is_no_layout_is_explained(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(UnreadableLayout) as refused:
        read_layout(file)
    assert reason in str(refused.value)
    assert refused.value.faults == refused.value.details["faults"] != []
    assert run("validate", file).exit_code == 1


def test_a_file_that_is_not_there_is_explained(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.csv", tmp_path):
        result = run("validate", path)
        assert result.exit_code == 1
        assert str(path) in result.stdout


def test_the_explanation_of_an_unreadable_file_has_all_its_faults(tmp_path: Path) -> None:
    file = tmp_path / "hall.layout"
    file.write_text(BAD_TEXT)
    result = run("preview", file, "--output", tmp_path / "hall.svg")
    assert isinstance(result.exception, UnreadableLayout)
    assert [fault.path for fault in result.exception.faults] == ["line 2", "line 3"]
    assert "line 3" in str(result.exception)


def test_preview_draws_what_the_suffix_says(tmp_path: Path) -> None:
    file = tmp_path / "hall.layout"
    file.write_text("zone hall reserved_seating Hall\nrows A-C seats 9")
    output_of("preview", file, "--output", tmp_path / "hall.svg")
    assert (tmp_path / "hall.svg").read_text().startswith("<svg")
    output_of("preview", file, "--output", tmp_path / "hall.PNG")
    assert (tmp_path / "hall.PNG").read_bytes().startswith(b"\x89PNG")
    assert output_of("preview", file, "--output", "-").startswith("<svg")
    assert run("preview", file, "--output", tmp_path / "hall.gif").exit_code == 2


def test_a_picture_that_cannot_be_written_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "hall.layout"
    file.write_text("zone hall reserved_seating Hall\nrows A-C seats 9")
    result = run("preview", file, "--output", tmp_path / "nowhere" / "hall.svg")
    assert isinstance(result.exception, UnwritableFile)


def test_json_is_written_for_people_to_read() -> None:
    text = write_layout(sample("theatre"), "json")
    assert text.endswith("}\n")
    assert len(text.splitlines()) > 400
