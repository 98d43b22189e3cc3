"""`dealtable transfer`: what it asks for, in one line, before it asks a table."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner

from controller.cli import main
from controller.signing.signed_commands import sign_document


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["transfer", *words])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ((), "name a source"),
        (("--to", "T02"), "name a source"),
        (("--from", "T01"), "name a destination"),
        (("--from", "T01", "--table", "T02"), "name a destination"),
        (("--from", "T01", "--to", "T02", "--table", "T02"), "not both"),
        (("--from", "T01", "--to", "T02", "--file", "m.json"), "no need of it"),
        (("--file", "m.json", "--to", "T02"), "--from-key"),
        (("--from", "T01", "--to", "T02", "--from-key", "00" * 32), "--from-key"),
    ],
)
def test_from_where_to_where_must_be_said(words: tuple[str, ...], wanted: str) -> None:
    code, said = run(*words)
    assert code == 2
    assert wanted in said


@pytest.mark.parametrize(
    ("text", "wanted"), [(None, "no such file"), ("{}", "no match"), ("[]", "no parts")]
)
def test_a_file_that_holds_no_match_is_named(tmp_path: Path, text: str | None, wanted: str) -> None:
    file = tmp_path / "match.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    code, said = run("--file", str(file), "--to", str(tmp_path), "--from-key", "00" * 32)
    assert code == 2
    assert wanted in said
    assert str(file) in said.replace("\n", "")


@pytest.mark.parametrize("key", ["00" * 31, "T01.key", "AB" * 32])
def test_a_key_that_is_no_key_and_no_file_of_one_is_named(tmp_path: Path, key: str) -> None:
    code, said = run("--file", str(tmp_path / "m"), "--to", str(tmp_path), "--from-key", key)
    assert code == 2
    assert key in said.replace("\n", "")


PART: Final[dict[str, Any]] = {
    "match": "M1",
    "to": "T02",
    "digest": "5a" * 32,
    "part": 1,
    "parts": 1,
    "text": "eNq",
}


def test_what_the_first_table_did_not_sign_goes_nowhere(tmp_path: Path) -> None:
    file = tmp_path / "match.json"
    sig = sign_document(PART["digest"], bytes(32))
    file.write_text(json.dumps([PART | {"sig": sig}]), encoding="utf-8")
    code, said = run("--file", str(file), "--to", str(tmp_path), "--from-key", "00" * 32)
    assert code == 1
    assert "is not signed by the key 0000" in said


def test_a_match_leaves_its_table_only_where_its_file_can_be_written(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere" / "match.json"
    told = run("--from", str(tmp_path), "--table", "T02", "--file", str(nowhere))
    assert told == (2, f"Error: {nowhere}: there is no folder {nowhere.parent}\n")


def test_the_help_teaches_both_steps_and_what_comes_after() -> None:
    code, said = run("--help")
    assert code == 0
    for word in (
        "--from T01 --to T02",
        "--file match.json",
        "--from-key",
        "send resume",
        "add_time",
    ):
        assert word in said
