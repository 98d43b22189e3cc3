"""A page's line to the console: let go while nobody sees the page, and taken up again.

A browser has six connections to one address: a seventh page would never come.
"""

from typing import Any

import pytest

from tests.console.modules import Page

REST_MS = 20_000


class Listening:
    """A page that listens, and what it is told: the parts that came, and that they are old."""

    def __init__(self, *, keeps: bool = False, hidden: bool = False) -> None:
        self._page = Page("stream.mjs", hidden=hidden)
        self._page.runs(
            "var shown = {}, said = [];"
            "page.listen('/stream/hall', (news) => { Object.assign(shown, news);"
            " said.push(Object.keys(news).join()); },"
            " (since, connecting) => said.push(since && [since.getTime(), connecting]),"
            f" () => {str(keeps).lower()})"
        )

    def hears(self, event: str = "all", **parts: Any) -> None:
        """Let the newest line say something."""
        self._page.runs(f"lines.at(-1).says({event!r}, {parts})")

    def later(self, ms: int, *, heard: bool = False) -> None:
        """Let time go on; `heard`: the line beats."""
        beat = "lines.at(-1).says('beat');" if heard else ""
        for _ in range(ms // 500):
            self._page.runs(f"{beat} later(500)")

    def sleeps(self, ms: int) -> None:
        """Let time go on, and nothing on the page."""
        self._page.runs(f"at += {ms}")

    def seen(self, whether: bool) -> None:
        """Let somebody see the page, or not."""
        self._page.runs(f"seen({str(whether).lower()})")

    def comes_back(self) -> None:
        """Let a page that the browser kept be shown again."""
        self._page.runs("happens('pageshow', { persisted: true })")

    def happens(self, event: str) -> None:
        """Let the browser say something to the page."""
        self._page.runs(f"happens({event!r})")

    def loses_its_line(self) -> None:
        """Let the console end the page's line, so that the browser is about to take another."""
        self._page.runs("lines.at(-1).told.error({})")

    @property
    def asked(self) -> Any:
        """What the page has asked for, in turn."""
        return self._page.says("lines.map((one) => one.url)")

    @property
    def open(self) -> int:
        """How many lines the page has."""
        return int(self._page.says("lines.filter((one) => one.readyState === 1).length"))

    @property
    def old(self) -> Any:
        """Since when what is shown is not of now, and whether it connects; None: it is."""
        return self._page.says("said.findLast((one) => typeof one !== 'string')")

    @property
    def said(self) -> Any:
        """All that the page was told, in turn."""
        return self._page.says("said")


@pytest.fixture
def page() -> Listening:
    """A page that somebody sees and that has heard the hall."""
    page = Listening()
    page.hears(me={"name": "Li Na"})
    page.later(500)
    assert (page.open, page.old) == (1, None)
    return page


def test_a_page_that_nobody_sees_lets_its_line_go_after_a_while(page: Listening) -> None:
    page.seen(False)
    page.later(REST_MS - 1000, heard=True)
    assert page.open == 1
    page.later(2000, heard=True)
    assert page.open == 0
    page.later(60_000)
    assert page.open == 0


def test_what_it_shows_is_marked_as_old_before_anybody_can_see_it_again(page: Listening) -> None:
    page.seen(False)
    page.later(REST_MS, heard=True)
    page.later(60_000)
    since_ms, connecting = page.old
    assert connecting
    assert since_ms <= 1_000_000 + REST_MS + 1000


def test_it_is_current_again_once_fresh_parts_are_on_the_page_and_not_before(
    page: Listening,
) -> None:
    page.seen(False)
    page.later(REST_MS + 1000, heard=True)
    page.seen(True)
    assert page.open == 1
    page.later(1000)
    assert page.old is not None
    page.hears(me={"name": "Li Na"})
    assert page.old is not None  # heard, and not drawn
    page.later(500)
    assert page.old is None
    assert page.said[-2:] == ["me", None]


def test_a_page_that_is_left_and_seen_soon_keeps_its_line(page: Listening) -> None:
    for _ in range(5):
        page.seen(False)
        page.later(REST_MS - 1000, heard=True)
        page.seen(True)
        page.later(500, heard=True)
    assert (page.open, page.old) == (1, None)


def test_a_page_that_somebody_wants_to_hear_goes_on_with_the_others_that_nobody_sees() -> None:
    page = Listening(keeps=True)
    page.hears(me={"name": "Li Na"})
    page.seen(False)
    page.later(REST_MS - 1000, heard=True)
    assert page.asked == ["/stream/hall"]
    page.later(9 * REST_MS, heard=True)
    assert page.asked == ["/stream/hall", "/stream/hall?behind"]
    assert (page.open, page.old) == (1, None)
    page.hears("some", waits=[])
    page.later(500, heard=True)
    page.seen(True)
    assert page.asked[2:] == ["/stream/hall"]
    assert (page.open, page.old) == (1, None)


@pytest.mark.parametrize(("keeps", "then"), [(False, []), (True, ["/stream/hall?behind"])])
def test_a_page_that_nobody_sees_and_whose_turn_is_over_leaves_the_next_to_those_that_are_seen(
    keeps: bool, then: list[str]
) -> None:
    page = Listening(keeps=keeps)
    page.hears(waits=[])
    page.loses_its_line()
    assert page.asked == ["/stream/hall"]  # its browser takes it up again by itself
    page.seen(False)
    page.loses_its_line()
    page.later(60_000, heard=True)
    assert page.asked == ["/stream/hall", *then]
    assert page.open == len(then)


def test_a_page_to_be_heard_that_opens_behind_others_listens_with_those_that_nobody_sees() -> None:
    page = Listening(keeps=True, hidden=True)
    page.hears(waits=[])
    page.later(1000, heard=True)
    assert (page.open, page.asked) == (1, ["/stream/hall?behind"])


def test_a_page_that_the_browser_stops_gives_its_line_up_and_takes_one_when_it_goes_on() -> None:
    page = Listening(keeps=True)
    page.hears(waits=[])
    page.seen(False)
    page.later(2 * REST_MS, heard=True)
    page.happens("freeze")
    assert page.open == 0
    page.sleeps(3_600_000)
    page.happens("resume")
    assert page.old is not None
    page.later(500)
    assert page.open == 1
    page.hears(waits=[])
    page.later(1000, heard=True)
    assert page.old is None


def test_a_page_that_opens_behind_others_takes_a_line_once_it_is_seen() -> None:
    page = Listening(hidden=True)
    page.later(60_000)
    assert (page.open, page.said) == (0, [])
    page.seen(True)
    assert page.open == 1
    page.hears(me={"name": "Li Na"})
    page.later(500)
    assert page.said == ["me"]


def test_a_tablet_that_slept_with_its_line_shows_nothing_as_current_when_it_wakes(
    page: Listening,
) -> None:
    page.seen(False)
    page.sleeps(3_600_000)
    page.seen(True)
    assert page.old is not None
    page.comes_back()
    page.later(1000)
    page.hears(me={"name": "Li Na"})
    page.later(500)
    assert (page.open, page.old) == (1, None)


def test_a_line_that_says_nothing_makes_the_page_old_and_is_tried_again(page: Listening) -> None:
    page.later(5000)
    _, connecting = page.old
    assert not connecting
    page.later(3000)
    assert page.old is not None
    page.hears(me={"name": "Li Na"})
    page.later(500)
    assert (page.open, page.old) == (1, None)
