"""The pages for technicians: what they lead to and tell people to type is there."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from controller.cli import main

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
_ELSEWHERE = ("node_modules", "build", "dist")
PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part in _ELSEWHERE or part[0] == "." for part in path.relative_to(ROOT).parts[:-1])
)
TWINS = ("FAULTS", "FIRST-START", "DAILY-CHECK")
_LINK = re.compile(r"!?\[[^\]\n]*\]\(([^)\s]+)\)")
_FENCE = re.compile(r"(?ms)^```.*?^```")
_CODE = re.compile(r"`([^`\n]+)`")
_ENDS = ("|", ">", ">>", ";", "&&")
_HAN = re.compile(r"[\u4e00-\u9fff]")


class Typed(NamedTuple):
    """One command line of a page, behind its `dealtable`."""

    page: str
    words: tuple[str, ...]


def links(page: Path) -> Iterator[str]:
    for link in _LINK.findall(_FENCE.sub("", page.read_text("utf-8"))):
        if "://" not in link:
            yield link


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"(?m)^#+ (.+)$", page.read_text("utf-8"))
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def broken(page: Path) -> list[str]:
    """Return the links of a page that lead to no file, or to no heading of one."""
    found = []
    for link in links(page):
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


def typed(page: Path) -> list[Typed]:
    """Return every command line of a page that begins with `dealtable`."""
    text = page.read_text("utf-8")
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    for block in _FENCE.findall(text):
        lines += [line.strip() for line in block.splitlines()]
    lines += _CODE.findall(_FENCE.sub("", text).replace("\\|", "|"))
    return [Typed(page.name, words) for line in lines if (words := _words(line))]


def _words(line: str) -> tuple[str, ...]:
    """Return the words behind `dealtable`, up to what the shell does with them."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        return ()
    if words[:2] == ["sudo", "-u"]:
        words = words[3:]
    while words and (words[0] == "sudo" or re.fullmatch(r"[A-Z_]+=\S*", words[0])):
        words = words[1:]
    if words[:1] != ["dealtable"]:
        return ()
    ends = [at for at, word in enumerate(words) if word in _ENDS or word.endswith(";")]
    return tuple(words[1 : ends[0] if ends else None]) or ("--help",)


def wrong(words: tuple[str, ...]) -> str | None:
    """Return what `dealtable` would say against such a line; a word in capitals is anything."""
    command: click.Command = main
    ctx = click.Context(main, info_name="dealtable")
    rest = list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        inner = command.get_command(ctx, rest[0])
        if inner is None:
            return f"no command {rest[0]}"
        command, rest = inner, rest[1:]
        ctx = click.Context(command, parent=ctx)
    try:
        given, left, _ = command.make_parser(ctx).parse_args([w.rstrip("…") for w in rest])
    except click.BadOptionUsage as error:  # a page may name an option without its value
        return None if rest[-1] == error.option_name else error.format_message()
    except click.UsageError as error:
        return error.format_message()
    if left:
        return f"too much: {' '.join(left)}"
    for parameter in command.params:
        value = given.get(str(parameter.name))
        choice = isinstance(parameter.type, click.Choice) and isinstance(value, str)
        if choice and not str(value).isupper():
            try:
                parameter.type.convert(value, parameter, ctx)
            except click.UsageError as error:
                return error.format_message()
    return None


def test_every_link_leads_somewhere(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(str(page.relative_to(ROOT))):
            assert broken(page) == []


def test_a_link_that_leads_nowhere_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "PAGE.md"
    page.write_text("# A head\n[a](#a-head) [b](#b) [c](gone.md) [d](https://e.f) [g](PAGE.md)\n")
    assert broken(page) == ["#b", "gone.md"]


def test_every_command_of_a_page_is_one(subtests: pytest.Subtests) -> None:
    for page in sorted(DEPLOY.glob("*.md")):
        with subtests.test(page.name):
            told = {one.words: wrong(one.words) for one in typed(page)}
            assert {words: why for words, why in told.items() if why is not None} == {}


def test_a_command_that_is_none_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "PAGE.md"
    page.write_text("`dealtable gone`\n\n    sudo -u x dealtable calibrate CONFIG gap\n")
    assert [one.words for one in typed(page)] == [("calibrate", "CONFIG", "gap"), ("gone",)]
    assert all(wrong(one.words) for one in typed(page))
    assert wrong(("flash", "--port", "PATH", "--board", "KIND")) is None
    assert wrong(("flash", "--ports", "PATH")) is not None
    assert wrong(("verify", "a", "b")) is not None


def test_every_page_of_the_folder_stands_in_its_index() -> None:
    listed = set(links(DEPLOY / "README.md"))
    pages = {page.name for page in DEPLOY.glob("*.md")} - {"README.md"}
    assert {page for page in pages if page not in listed} == set()
    examples = {path.name for path in DEPLOY.glob("*.toml")}
    assert {path for path in examples if path not in listed} == set()


@pytest.mark.parametrize("name", TWINS)
def test_the_chinese_page_tells_as_much(name: str) -> None:
    english = DEPLOY / f"{name}.md"
    chinese = DEPLOY / f"{name}.zh-CN.md"
    if name != "FAULTS":  # its words are the catalogue's
        assert sorted(typed_in(english)) == sorted(typed_in(chinese))
    shapes = [
        (len(re.findall(r"(?m)^\|", text)), len(re.findall(r"(?m)^#", text)))
        for text in (english.read_text("utf-8"), chinese.read_text("utf-8"))
    ]
    assert shapes[0] == shapes[1]
    assert len(_HAN.findall(chinese.read_text("utf-8"))) > 300
    assert len(_HAN.findall(english.read_text("utf-8"))) < 10


def typed_in(page: Path) -> list[tuple[str, ...]]:
    return [one.words for one in typed(page)]


def rows(page: str) -> list[list[str]]:
    text = (DEPLOY / page).read_text("utf-8")
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in text.splitlines()
        if re.match(r"\| M\d+ \|", line)
    ]


def test_each_promise_of_the_mechanics_says_why_and_what_tests_it() -> None:
    limits = tomllib.loads((ROOT / "controller/acceptance/limits.toml").read_text("utf-8"))
    parts = ("feeder-gap", "gate", "reader-light", "pockets")
    promises = rows("MECHANICS.md")
    assert [row[0] for row in promises] == [f"M{n}" for n in range(1, len(promises) + 1)]
    for number, what, why, tested in promises:
        assert all((what, why)), number
        assert re.search(r"selftest|calibrate|by hand", tested), number
        for kind, names in re.findall(r"(selftest|calibrate) ((?:`[\w-]+`(?:, )?)+)", tested):
            known = limits["figure"] if kind == "selftest" else parts
            assert [name for name in _CODE.findall(names) if name not in known] == [], number


@pytest.mark.parametrize("page", ["PARTS.md", "MECHANICS.md", "FIRST-START.md", "DAILY-CHECK.md"])
def test_what_nobody_has_measured_is_said_to_be_assumed(page: str) -> None:
    text = (DEPLOY / page).read_text("utf-8")
    assert re.search(r"assum|estimate", text)


def test_the_minutes_of_a_first_start_come_to_about_half_an_hour() -> None:
    text = (DEPLOY / "FIRST-START.md").read_text("utf-8")
    minutes = [int(last) for last in re.findall(r"(?m)^\| \d+ \|.*\| (\d+) \|$", text)]
    assert 25 <= sum(minutes) <= 35


def test_the_parts_come_to_what_is_said_of_the_whole() -> None:
    text = (DEPLOY / "PARTS.md").read_text("utf-8")
    bill = text.partition("## Bill of materials")[2].partition("## Spare parts")[0]
    found = re.findall(r"(?m)^\| ([^|]+) \| (\d+)[^|]*\| ¥([\d.]+) / €([\d.]+) \|", bill)
    assert len(found) == len(re.findall(r"(?m)^\| \w", bill)) - 1  # every row but the head
    whole = sum(int(many) * float(yuan) for part, many, yuan, _ in found if part[:3] != "or:")
    said = re.search(r"\*\*¥(\d+) / €(\d+)\*\*", bill)
    assert said is not None
    assert abs(whole / int(said[1]) - 1) < 0.1
    for part, _, yuan, euro in found:
        assert 5 <= float(yuan) / float(euro) <= 12, part
