"""The console's pages as they are served: what every one of them must have, and must not."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.console.web import logged_in, standing

ROOT = Path(__file__).parents[2] / "controller" / "console"
STATIC = ROOT / "static"
PAGES = sorted((ROOT / "pages").glob("*.html"))
SHEETS = sorted((STATIC / "css").rglob("*.css"))
SCRIPTS = sorted([*(STATIC / "js").rglob("*.mjs"), *(STATIC / "js").rglob("*.js")])
VERIFIER = ROOT.parent / "deal"

_EMPTY = {"meta", "link", "input", "br", "hr", "img", "source"}
Tag = tuple[str, dict[str, str | None]]


class _Read(HTMLParser):
    """The tags of a page with their attributes, and what stands between them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[Tag] = []
        self.texts: dict[str, str] = {}
        self.labelled: list[Tag] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if "label" in self._open:
            self.labelled.append((tag, dict(attrs)))
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open[-1]] = self.texts.get(self._open[-1], "") + data.strip()


def read(page: Path) -> _Read:
    """Return a page, read."""
    found = _Read()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def tags(page: Path, name: str) -> list[dict[str, str | None]]:
    """Return the attributes of every such tag."""
    return [attrs for tag, attrs in read(page).tags if tag == name]


def test_a_page_says_its_language_and_its_title(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page.stem):
            assert page.read_text(encoding="utf-8").lower().startswith("<!doctype html>")
            assert [html.get("lang") for html in tags(page, "html")] == ["zh-CN"]
            assert read(page).texts.get("title")


def test_a_page_has_one_main_part_that_the_skip_link_finds(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page.stem):
            assert [main.get("id") for main in tags(page, "main")] == ["main"]


def test_a_page_fits_a_phone_and_may_be_enlarged(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page.stem):
            views = [
                str(meta.get("content"))
                for meta in tags(page, "meta")
                if meta.get("name") == "viewport"
            ]
            assert len(views) == 1
            assert "width=device-width" in views[0]
            assert "user-scalable" not in views[0]
            assert "maximum-scale" not in views[0]


def test_a_page_has_no_script_and_no_style_of_its_own(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page.stem):
            found = read(page)
            assert not found.texts.get("script")
            assert not tags(page, "style")
            for tag, attrs in found.tags:
                assert "style" not in attrs, tag
                assert not [name for name in attrs if name.startswith("on")], tag
                assert not str(attrs.get("href", "")).startswith("javascript:"), tag


def test_a_page_takes_everything_from_its_own_house(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page.stem):
            asked = [str(attrs["src"]) for _, attrs in read(page).tags if attrs.get("src")]
            asked += [str(link["href"]) for link in tags(page, "link")]
            assert asked
            for path in asked:
                assert path.startswith("/static/"), path
                name = path.removeprefix("/static/")
                verify = name.removeprefix("verify/")
                assert (STATIC / name).is_file() or (VERIFIER / verify).is_file(), path


def test_every_field_of_a_page_has_a_name(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page.stem):
            found, labels = read(page), {label.get("for") for label in tags(page, "label")}
            for tag, attrs in found.tags:
                if tag in ("input", "select", "textarea") and attrs.get("type") != "hidden":
                    named = {"aria-label", "aria-labelledby", "data-say-label"} & attrs.keys()
                    within = (tag, attrs) in found.labelled
                    assert named or within or attrs.get("id") in labels, attrs


def test_no_two_elements_have_one_id(subtests: pytest.Subtests) -> None:
    for page in PAGES:
        with subtests.test(page=page.stem):
            ids = [attrs["id"] for _, attrs in read(page).tags if "id" in attrs]
            assert len(ids) == len(set(ids))


def test_a_style_sheet_fetches_nothing(subtests: pytest.Subtests) -> None:
    for sheet in SHEETS:
        with subtests.test(sheet=sheet.stem):
            text = sheet.read_text(encoding="utf-8")
            assert "@import" not in text
            assert not re.findall(r"url\(\s*[\"']?(?!/static/|#)", text)


def test_a_script_makes_no_code_and_reaches_no_other_host(subtests: pytest.Subtests) -> None:
    for script in SCRIPTS:
        with subtests.test(script=script.stem):
            text = script.read_text(encoding="utf-8")
            for banned in (
                "innerHTML",
                "outerHTML",
                "insertAdjacentHTML",
                "document.write",
                "eval(",
                "new Function",
            ):
                assert banned not in text, banned
            assert not re.findall(r"https?://(?!www\.w3\.org/)", text)
            assert not re.search(r"(?:set|\bh\([^)]*)Attribute\(\s*[\"']style", text)


def test_a_script_counts_time_by_the_console() -> None:
    """A tablet's clock may be wrong: only the two modules that measure silence may read it."""
    wrong = [
        script.stem
        for script in SCRIPTS
        if "Date.now" in script.read_text(encoding="utf-8")
        and script.stem not in ("time", "stream")
    ]
    assert wrong == []


@pytest.mark.parametrize(("who", "status"), [("chief", 200), ("ref", 303), ("obs", 303)])
async def test_the_chiefs_page_is_the_chiefs(tmp_path: Path, who: str, status: int) -> None:
    async with standing(tmp_path) as (console, _), logged_in(console, who) as client:
        assert (await client.get("/chief")).status_code == status
        assert (await client.get("/")).status_code == 200
        assert (await client.get("/wall")).status_code == 200
