"""Tests speak to a page in its own words, in both languages."""

from pathlib import Path

import pytest

from tests.browser.said import Said, read, spoken
from tests.console.word_files import WORDS, taught


@pytest.mark.parametrize("path", WORDS, ids=lambda path: path.stem)
def test_the_words_of_a_page_are_read_as_a_browser_reads_them(path: Path) -> None:
    assert read(path) == taught(path)


def test_a_word_is_said_in_the_language_that_is_spoken_with_what_it_is_about() -> None:
    zh, en = Said("zh"), Said("en")
    assert [zh("row.going", person="李娜"), en("row.going", person="李娜")] == [
        "李娜 已去",
        "李娜 is going",
    ]
    assert [said.either("记犯规", "foul") for said in (zh, en)] == ["记犯规", "foul"]


def test_a_small_run_speaks_one_language_a_test_and_each_in_about_half_of_them() -> None:
    names = [f"tests/browser/test_table.py::test_{n}" for n in range(400)]
    chosen = [spoken(name, all_of_it=False) for name in names]
    assert {len(each) for each in chosen} == {1}
    assert 150 < chosen.count(("en",)) < 250
    assert chosen[:4] == [spoken(name, all_of_it=False) for name in names[:4]]
    assert {spoken(name, all_of_it=True) for name in names} == {("zh", "en")}
