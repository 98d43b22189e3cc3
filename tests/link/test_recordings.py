"""Recordings that are kept. Beside each is a page: what the drivers make of it."""

import json

import pytest

from drivers.link.frame_text import read_frames
from drivers.link.frames import PROTOCOL_HEX
from drivers.link.recording import read_recording
from tests.link.recorded_runs import BOARDS, FOLDER, RUNS, kept, replayed

KEPT = sorted({*RUNS, *(path.stem for path in FOLDER.glob("*.jsonl"))})
MOST_BYTES = 200_000


@pytest.mark.parametrize("run", KEPT)
def test_the_drivers_find_nothing_wrong_with_a_recording(run: str) -> None:
    made = json.loads((FOLDER / f"{run}.json").read_text("utf-8"))
    assert [finding for board in BOARDS for finding in made[board]["findings"]] == []


@pytest.mark.parametrize("run", KEPT)
def test_a_kept_recording_is_small_and_of_todays_wire(run: str) -> None:
    path = FOLDER / f"{run}.jsonl"
    assert path.stat().st_size < MOST_BYTES
    with path.open("rb") as file:
        header, chunks = read_recording(file)
        assert header.protocol == PROTOCOL_HEX
        assert header.simulated
        assert {chunk.board for chunk in chunks} == set(BOARDS)


@pytest.mark.parametrize(
    ("run", "marks"),
    [
        ("clean_deal", set()),
        ("bad_line", {"junk", "crc error", "again", "too early"}),
        ("dead_line", {"again"}),
        ("double_feed_and_tray", set()),
    ],
)
def test_kept_recordings_have_in_them_what_they_are_kept_for(run: str, marks: set[str]) -> None:
    spoken = [one for one in read_frames(kept(run)) if one.name != "STOP"]
    found = {mark for one in spoken for mark in one.marks} | {one.name for one in spoken}
    trouble = {"junk", "crc error", "again", "too early", "strange session"}
    assert found & trouble == marks


def test_the_clean_deal_has_every_card_and_its_release() -> None:
    dealer, reader = replayed(kept("clean_deal"))
    names = [event.code.name for event in dealer.events]
    assert names.count("LANDED") == len(reader.events) == 108
    assert names.count("RELEASED") == 1
    assert dealer.counters == type(dealer.counters)(sessions=1)


def test_the_double_feed_is_told_and_its_cards_come_from_the_tray() -> None:
    dealer, _ = replayed(kept("double_feed_and_tray"))
    assert "DOUBLE" in [event.code.name for event in dealer.events]
    feeds = [a.command for a in dealer.commands if type(a.command).__name__ == "FeedCommand"]
    assert any(getattr(feed, "source", None) == 1 for feed in feeds)


@pytest.mark.parametrize(
    ("run", "ends"),
    [
        ("board_reset", [["BoardReset"], []]),
        ("unplugged", [[], ["LineLost"]]),
        ("dead_line", [[], []]),
    ],
)
def test_the_ways_in_which_a_line_ends_are_among_them(run: str, ends: list[list[str]]) -> None:
    assert [list(result.ends) for result in replayed(kept(run))] == ends
