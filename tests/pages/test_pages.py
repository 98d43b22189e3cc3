"""Every page that is made from the program is as the program makes it now."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.pages import __main__ as command
from tests.pages.table import PAGES, ROOT, Page
from tests.rows import each_row


def run(*words: str) -> Result:
    return CliRunner().invoke(command.main, words, prog_name="python -m tests.pages")


@each_row("page", [page for page in PAGES if page.checked_by is None])
def test_every_page_is_as_its_writer_makes_it(page: Page) -> None:
    there = page.read()
    fresh = page.lasting(page.write(there)).splitlines()
    assert page.lasting(there).splitlines() == fresh, f"python -m tests.pages write {page.name}"


@each_row("page", [page for page in PAGES if page.checked_by is not None])
def test_every_other_page_is_named_in_the_test_that_checks_it(page: Page) -> None:
    assert page.path.exists()
    assert page.checked_by is not None
    assert (ROOT / page.checked_by).is_file()


def test_no_page_has_two_writers() -> None:
    assert len({page.path for page in PAGES}) == len(PAGES)


def test_what_documents_say_to_type_names_a_page() -> None:
    names = {page.name for page in PAGES}
    said = [
        name
        for path in [*ROOT.glob("*.md"), *ROOT.glob("[a-z]*/**/*.md")]
        for line in path.read_text("utf-8").splitlines()
        for words in re.findall(r"python -m tests\.pages write([^`]*)", line)
        for name in words.split()
    ]
    assert said
    assert set(said) <= names


def test_pages_are_listed_with_the_test_that_checks_each() -> None:
    listed = [line.split() for line in run("list").output.splitlines()]
    assert [name for name, _ in listed] == [page.name for page in PAGES]
    assert ["controller/deal/REDEAL.md", "tests/machine/test_redeal_table.py"] in listed


def test_a_page_is_written_where_it_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "PAGE.md"
    monkeypatch.setattr("tests.pages.table.ROOT", tmp_path)
    monkeypatch.setattr(command, "PAGES", (Page(path, lambda text: text or "new\n"),))
    assert run("write").output == "PAGE.md: written\n"
    assert path.read_text("utf-8") == "new\n"
    assert run("write", "PAGE.md").output == "PAGE.md: unchanged\n"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("deploy/FAULT.md", "did you mean deploy/FAULTS.md?"), ("x", "tests.pages list` prints them")],
)
def test_a_name_of_no_page_is_refused_in_one_line(name: str, hint: str) -> None:
    refused = run("write", name)
    assert refused.exit_code == 2
    [line] = [line for line in refused.output.splitlines() if line.startswith("Error: ")]
    assert line.startswith(f"Error: there is no page {name}: ")
    assert line.endswith(hint)
