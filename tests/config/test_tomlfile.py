from pathlib import Path
from typing import Annotated, Literal

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from controller.cli import main
from controller.host.printable_text import escape_unprintable
from controller.host.toml_files import (
    FileError,
    parse,
    parse_tables,
    read_text,
    refuse_unprintable_text,
)

Count = Annotated[int, msgspec.Meta(ge=1, le=9)]


class Sample(msgspec.Struct, forbid_unknown_fields=True):
    pair: tuple[Count, Count] = (1, 2)
    seats: tuple[Literal["N", "S"], Literal["N", "S"]] = ("N", "S")
    name: Literal["one", "two"] = "one"
    seat: Literal["N", "S"] | Literal["all"] | None = None


def told(text: str) -> str:
    """What is said of a file with this text."""
    with pytest.raises(FileError) as error:
        parse(text, Sample, name="file.toml")
    return str(error.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"a = {'[' * 2000}{']' * 2000}", "at most 32 tables and lists within each other"),
        (f"a = {'[' * 40}{']' * 40}", "at most 32 tables and lists within each other"),
        (f"a{'.a' * 2000} = 1", "at most 32 tables and lists within each other"),
        (f"a = {'{a = ' * 200}1{'}' * 200}", "at most 32 tables and lists within each other"),
        (f"pair = [1, {'9' * 5000}]", "expected numbers of at most 18 digits"),
        (f"pair = [1, 0x{'f' * 5000}]", "pair[1]: expected a number of at most 18 digits"),
    ],
)
def test_a_hostile_file_is_told_in_one_line(text: str, line: str) -> None:
    assert told(text).startswith("file.toml: ")
    assert line in told(text)
    assert len(told(text)) < 200


def test_as_many_tables_as_a_person_needs_are_read() -> None:
    assert parse_tables(f"a = {'[' * 30}{']' * 30}", name="file.toml")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('name = "a\\nb"', 'name = "a\\nb": expected one of "one", "two"'),
        ('name = "\\u001b[31m"', 'name = "\\x1b[31m": expected'),
        ('name = "\\u2028\\u202e"', 'name = "\\u2028\\u202e": expected'),
        ('"a\\nb" = 1', "a\\nb: unknown key"),
        (f'"{"k" * 999}" = 1', f"{'k' * 57}...: unknown key"),
        ('name = "\\u3000全"', 'name = "\u3000全": expected'),
    ],
)
def test_what_is_echoed_is_printable_and_short(text: str, line: str) -> None:
    assert told(text).startswith(f"file.toml: {line}")
    assert "\n" not in told(text)


def test_the_name_of_a_file_is_echoed_on_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"a\\nb\.toml: there is no such file") as error:
        read_text(tmp_path / "a\nb.toml")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_what_is_no_name_of_a_file_is_told_in_one_line(name: str) -> None:
    with pytest.raises(FileError, match="cannot be the name of a file") as error:
        read_text(Path(name))
    assert str(error.value).encode()


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file.toml"
    file.write_bytes(b"\xef\xbb\xbfa = 1\n")
    assert parse_tables(read_text(file), name="file.toml") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("pair = [3]", "pair = [3]: expected two whole numbers from 1 to 9"),
        ("pair = 3", "pair = 3: expected two whole numbers from 1 to 9"),
        ('seats = ["N"]', 'seats = ["N"]: expected a list of two, each one of "N", "S"'),
    ],
)
def test_a_list_of_fixed_length_is_told_with_its_length(text: str, line: str) -> None:
    assert told(text) == f"file.toml: {line}"


def test_all_choices_are_told_and_a_value_as_its_file_has_it() -> None:
    text = 'seat = [{a = true, b = "x"}, 2.5]'
    assert told(text) == (
        'file.toml: seat = [{a = true, b = "x"}, 2.5]: expected one of "N", "S", "all"'
    )


def test_a_configuration_that_is_a_pit_of_lists_is_told_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "table.toml"
    file.write_text(f"a = {'[' * 2000}{']' * 2000}", encoding="utf-8")
    result = CliRunner().invoke(main, ["check-config", str(file)])
    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: {file}: expected at most 32 tables and lists within each other\n"
    )


def test_a_simulated_table_that_was_saved_with_a_byte_order_mark_is_one(tmp_path: Path) -> None:
    file = tmp_path / "sim.toml"
    file.write_bytes(b"\xef\xbb\xbf[sim]\n")
    assert CliRunner().invoke(main, ["check-config", str(file)]).exit_code == 0


@pytest.mark.parametrize("text", ["a\nb", "\x1b", "\u202e", "\x85", "\u2028"])
def test_text_of_more_than_one_line_is_refused_wherever_it_stands(text: str) -> None:
    with pytest.raises(FileError, match=r"file\.toml: a\.b\[1\] = .*: expected one line of"):
        refuse_unprintable_text({"a": {"b": ["fine", text]}}, name="file.toml")


def test_text_of_one_line_is_let_through() -> None:
    refuse_unprintable_text(
        {"a": ["2027年　春季杯", "Huai'an – “♠” é", ""], "b": 3}, name="file.toml"
    )


@given(st.text())
def test_whatever_is_echoed_stays_on_its_line(text: str) -> None:
    line = escape_unprintable(text)
    assert line.splitlines() in ([], [line])
    assert line.encode() or not text
    assert escape_unprintable(line) == line
