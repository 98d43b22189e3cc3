"""Configurations that the file alone shows to be wrong: one line, exit 2."""

import os
from pathlib import Path

import pytest

from tests.processes.program import Dealtable

EXAMPLE = Path(__file__).parents[2] / "deploy" / "table.toml"

COMMANDS = [["check-config"], ["run", "--config"]]

# What stands in the file; what stands there instead; what the one line says of it.
WRONG = {
    "unknown key": (
        'profile = "international-000"',
        'profil = "international-000"',
        'table.profil: unknown key, did you mean "profile"?',
    ),
    "wrong type": (
        "[dealer]",
        '[dealer]\nbaud = "fast"',
        'dealer.baud = "fast": expected a whole number from 9600 to 4000000',
    ),
    "out of bounds": (
        "cut_s = 60",
        "cut_s = 0",
        "limits.cut_s = 0: expected a number from 5 to 600",
    ),
    "no such value": (
        'backend = "serial"',
        'backend = "simulator"',
        'table.backend = "simulator": expected one of "serial", "sim"',
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
async def test_a_wrong_file_is_told_in_one_line_and_nothing_is_made(
    wrong: str, words: list[str], tmp_path: Path, dealtable: Dealtable
) -> None:
    right, instead, complaint = WRONG[wrong]
    text = EXAMPLE.read_text().replace("/var/lib/dealtable", str(tmp_path))
    assert right in text
    config = tmp_path / "table.toml"
    config.write_text(text.replace(right, instead, 1))
    told = await dealtable(*words, config)
    assert (told.code, told.out) == (2, "")
    assert told.err == f"Error: {config}: {complaint}\n"
    assert os.listdir(tmp_path) == [config.name]


@pytest.mark.parametrize(
    ("settles", "complaint"),
    [
        (None, "there is no such file"),
        ('profile = "bcta-004"', "title_en: missing, expected text"),
        ("[ending", "Expected ']'"),
    ],
)
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
async def test_a_wrong_event_is_told_in_one_line_that_names_its_file(
    settles: str | None, complaint: str, words: list[str], tmp_path: Path, dealtable: Dealtable
) -> None:
    event, config = tmp_path / "cup.toml", tmp_path / "table.toml"
    if settles is not None:
        event.write_text(settles)
    text = EXAMPLE.read_text().replace("/var/lib/dealtable", str(tmp_path))
    config.write_text(text.replace("[table]", '[table]\nevent = "cup.toml"', 1))
    told = await dealtable(*words, config)
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith(f"Error: {event}: {complaint}")
    assert len(told.err.splitlines()) == 1
    assert not (tmp_path / "T01").exists()


async def test_a_table_with_an_event_says_so_when_it_is_checked(
    tmp_path: Path, dealtable: Dealtable
) -> None:
    (tmp_path / "event.toml").write_text((EXAMPLE.parent / "event.toml").read_text())
    config = tmp_path / "table.toml"
    config.write_text(EXAMPLE.read_text().replace("[table]", '[table]\nevent = "event.toml"', 1))
    told = await dealtable("check-config", config)
    assert told.code == 0
    assert "set S1 (back A), profile international-000 for Spring Cup 2027" in told.out


async def test_the_example_itself_is_right(dealtable: Dealtable) -> None:
    told = await dealtable("check-config", EXAMPLE)
    assert (told.code, told.err) == (0, "")
