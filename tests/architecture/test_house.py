"""The source stays readable: plain phrases, one home for a name, no circles, no long files."""

import re

import pytest

from tests.architecture import house

MAX_ODD_PER_1000_WORDS = 0.3
MAX_FILES = 486
MAX_LINES = 93_000
MAX_LINES_OF_A_FILE = 450
MAX_SHARE_WITH_ONE_IMPORTER = 0.25


def test_docstrings_comments_and_documents_use_plain_phrases() -> None:
    files = [*house.product_modules().values(), *house.english_documents()]
    odd = [place for path in files for place in house.odd_phrases(path)]
    words = sum(house.count_words(path) for path in files)
    assert 1000 * len(odd) / words <= MAX_ODD_PER_1000_WORDS, "\n".join(odd[:40])


def test_a_public_class_name_exists_once() -> None:
    assert house.clashing_classes() == {}


def test_most_modules_have_more_than_one_importer() -> None:
    lone = house.modules_with_one_importer()
    share = len(lone) / len(house.product_modules())
    assert share <= MAX_SHARE_WITH_ONE_IMPORTER, lone


def test_no_modules_import_each_other_in_a_loop() -> None:
    assert house.import_circles() == []


def test_the_product_has_few_and_short_files() -> None:
    lengths = {
        module: len(path.read_text("utf-8").splitlines())
        for module, path in house.product_modules().items()
    }
    assert len(lengths) <= MAX_FILES
    assert sum(lengths.values()) <= MAX_LINES
    assert {m: n for m, n in lengths.items() if n > MAX_LINES_OF_A_FILE} == {}


@pytest.mark.parametrize(
    "line",
    [
        "# the board tells what it heard",
        '"""Return what nobody asked for."""',
        "# The daemon goes on once more.",
        "# Who ends it lets go.",
    ],
)
def test_a_phrase_that_is_hard_to_read_is_found(line: str) -> None:
    assert any(re.search(pattern, line) for pattern in house.ODD_PHRASES)


@pytest.mark.parametrize("line", ["# Return the entry.", "# The daemon continues."])
def test_a_plain_phrase_is_not_found(line: str) -> None:
    assert not any(re.search(pattern, line) for pattern in house.ODD_PHRASES)
