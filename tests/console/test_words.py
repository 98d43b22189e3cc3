"""The words of the console's pages: each is there in both languages, and none is left over."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from controller.seats import SIDE_NAMES
from controller.words import ROLE_WORDS
from tests.console.word_files import STATIC, WORDS, taught

ROOT = Path(__file__).parents[2] / "controller" / "console"
PAGES = sorted((ROOT / "pages").glob("*.html"))
COMMON = STATIC / "words" / "common.mjs"

_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["'](\.[^"']+\.mjs)["']""")
_SAY = re.compile(r"(?<![.\w])say\(")
_LITERAL = re.compile(r"""["']([^"']+)["']""")
_WOVEN = re.compile(r"`([^`$]*)(\$\{.*)?`", re.DOTALL)
_SCRIPT = re.compile(r"""<script[^>]*\bsrc="/static/([^"]+\.mjs)\"""")
_DRESSED = re.compile(r"""data-say(?:-label|-hint)?="([^"]+)\"""")
_CHINESE = re.compile(r"""(["'`])(?:(?!\1).)*[\u3000-\u9fff\uff00-\uffef](?:(?!\1).)*\1""")
_COMMENT = re.compile(r"^\s*(?://|\*|/\*).*$", re.MULTILINE)


@cache
def source(path: Path) -> str:
    """Return a module or page without its comments."""
    return _COMMENT.sub("", path.read_text(encoding="utf-8"))


def closure(entry: Path) -> set[Path]:
    """Return a module with all that it imports of this house."""
    found, due = set(), [entry.resolve()]
    while due:
        path = due.pop()
        if path in found or not path.exists():
            continue
        found.add(path)
        due += [(path.parent / name).resolve() for name in _IMPORT.findall(source(path))]
    return found


def first(text: str) -> str:
    """Return a call's first argument, of what stands behind its bracket."""
    deep, quote = 0, ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[at - 1] != "\\" else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            deep += 1
        elif char in ")]}" or (char == "," and not deep):
            if not deep:
                return text[:at].strip()
            deep -= 1
    return text


def choices(said: str) -> list[str]:
    """Return what `a ? b : c ? d : e` can be: b, d, e; anything else is itself."""
    found, deep, quote, start = [], 0, "", 0
    for at, char in enumerate(said):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'`":
            quote = char
        elif char in "([{":
            deep += 1
        elif char in ")]}":
            deep -= 1
        elif not deep and char == "?" and "?" not in (said[at + 1 : at + 2], said[at - 1]):
            start = at + 1
        elif not deep and char == ":":
            found.append(said[start:at].strip())
            start = at + 1
    return [*found, said[start:].strip()]


class Said(NamedTuple):
    """The keys that a file says, the beginnings of those it weaves, and what nobody can read."""

    keys: set[str]
    woven: set[str]
    blind: list[str]


@cache
def said(path: Path) -> Said:
    """Return what a module or page says."""
    text = source(path)
    found = Said(set(_DRESSED.findall(text)), set(), [])
    for call in _SAY.finditer(text):
        for one in choices(first(text[call.end() :])):
            if literal := _LITERAL.fullmatch(one):
                found.keys.add(literal[1])
            elif (woven := _WOVEN.fullmatch(one)) and not woven[2]:
                found.keys.add(woven[1])
            elif woven and woven[1].endswith((".", "-")):
                found.woven.add(woven[1])
            else:
                found.blind.append(one)
    return found


def every_word() -> list[tuple[Path, str, list[str]]]:
    """Return every word of every file: the file, the key and the pair of languages."""
    return [(path, key, pair) for path in WORDS for key, pair in taught(path).items()]


def modules() -> list[Path]:
    """Return every module but the words themselves."""
    return sorted(path for path in (STATIC / "js").rglob("*.mjs"))


def test_every_word_is_there_in_both_languages() -> None:
    wrong = [
        (path.stem, key, pair)
        for path, key, pair in every_word()
        if len(pair) != 2 or not all(isinstance(one, str) and one.strip() for one in pair)
    ]
    assert wrong == []


def test_both_languages_say_the_same_values() -> None:
    """A number that only one language shows is missing in the other."""
    wrong = [
        (path.stem, key, pair)
        for path, key, pair in every_word()
        if set(re.findall(r"\{(\w+)\}", pair[0])) != set(re.findall(r"\{(\w+)\}", pair[1]))
    ]
    assert wrong == []


def test_the_chinese_is_chinese_and_the_english_is_not() -> None:
    han = re.compile(r"[一-鿿]")
    # The name of the other language stands in that language.
    mixed = [
        (path.stem, key, pair)
        for path, key, pair in every_word()
        if han.search(pair[1].replace("中文", ""))
    ]
    assert mixed == []


def test_no_key_has_two_meanings() -> None:
    seen: dict[str, tuple[Path, list[str]]] = {}
    for path in WORDS:
        for key, pair in taught(path).items():
            other = seen.setdefault(key, (path, pair))
            assert other[1] == pair, f"{key} in {path.name} and {other[0].name}"


def test_a_page_knows_every_word_that_it_says(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page.stem):
            entries = [STATIC / name for name in _SCRIPT.findall(source(page))]
            files = set().union(*(closure(entry) for entry in entries)) if entries else set()
            known = {
                key for path in files & {one.resolve() for one in WORDS} for key in taught(path)
            }
            asked = said(page).keys.union(*(said(path).keys for path in files))
            assert sorted(asked - known) == []
            woven = set().union(*(said(path).woven for path in files))
            assert (
                sorted(one for one in woven if not any(key.startswith(one) for key in known)) == []
            )


def test_no_word_is_left_over() -> None:
    files = [*modules(), *PAGES]
    asked = set().union(*(said(path).keys for path in files))
    woven = tuple(set().union(*(said(path).woven for path in files)))
    left = {
        f"{path.stem}: {key}"
        for path in WORDS
        for key in taught(path)
        if key not in asked and not key.startswith(woven)
    }
    assert sorted(left) == []


def test_keys_are_said_where_they_can_be_read() -> None:
    """A key that is only made while the page runs could be missing and nobody would know."""
    blind = [
        (path.stem, said(path).blind)
        for path in modules()
        if said(path).blind and path.name != "words.mjs"
    ]
    assert blind == []


def test_roles_and_sides_are_called_in_chinese_as_everywhere_else() -> None:
    common = taught(COMMON)
    for stem, named in (("role", ROLE_WORDS), ("side", SIDE_NAMES)):
        assert {name: common[f"{stem}.{name}"][0] for name in named} == {
            name: words.zh for name, words in named.items()
        }


def test_what_a_module_says_itself_is_of_both_languages() -> None:
    """A Chinese comma between English words: such a text asks for the language, or is a word."""
    wrong = [
        (path.stem, line.strip())
        for path in modules()
        for line in source(path).splitlines()
        if "language" not in line and _CHINESE.search(line)
    ]
    assert wrong == []
