"""Tests speak to a page in its own words, in the language of its reader."""

from pathlib import Path

import pytest

from tests.browser.said import Said, read
from tests.console.word_files import WORDS, taught


@pytest.mark.parametrize("path", WORDS, ids=lambda path: path.stem)
def test_the_words_of_a_page_are_read_as_a_browser_reads_them(path: Path) -> None:
    assert read(path) == taught(path)


def test_a_word_is_said_in_the_language_that_is_spoken_with_what_it_is_about() -> None:
    zh, en = Said("zh"), Said("en")
    assert [zh("row.going", person="李娜"), en("row.going", person="李娜")] == [
        "李娜正前往",
        "李娜 is going",
    ]
    assert [said.either("记犯规", "foul") for said in (zh, en)] == ["记犯规", "foul"]
