"""`dealtable transfer`: what it asks for, in one line, before it asks a table."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.cli import main


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["transfer", *words])
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ((), "say from where"),
        (("--to", "T02"), "say from where"),
        (("--from", "T01"), "say to where"),
        (("--from", "T01", "--table", "T02"), "say to where"),
        (("--from", "T01", "--to", "T02", "--table", "T02"), "one of them"),
        (("--from", "T01", "--to", "T02", "--file", "m.json"), "no need of it"),
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
    code, said = run("--file", str(file), "--to", str(tmp_path))
    assert code == 2
    assert wanted in said
    assert str(file) in said.replace("\n", "")


def test_the_help_teaches_both_steps_and_what_comes_after() -> None:
    code, said = run("--help")
    assert code == 0
    for word in ("--from T01 --to T02", "--file match.json", "send resume", "add_time"):
        assert word in said
