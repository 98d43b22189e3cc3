"""Cards that move for nobody's deal: in rows of no attempt, or of one that is over."""

from collections.abc import Callable
from pathlib import Path

import pytest

from controller.journal.packed_board_events import (
    SHUFFLED,
    LoggedBoardEvent,
    pack_events,
    split_into_groups,
)
from controller.journal.verify import verify
from tests.cheats.changed import said
from tests.journal.scripted import ScriptedTable, write_journal

HIDDEN = "a deal was dealt without being announced"


def a_deal(table: ScriptedTable) -> list[LoggedBoardEvent]:
    """Deal 108 cards that nobody was promised; return what the boards say of it."""
    events = [table.event("dealer", SHUFFLED, 3, 0)]
    for index, face in enumerate(table.faces(), start=1):
        events += table.card(index, index % 4, face)
    return events


def of_no_attempt(table: ScriptedTable) -> None:
    """File it under no attempt."""
    table.play()
    for group in split_into_groups(a_deal(table)):
        table.write("wire", public=False, **pack_events(group, table.seal))
    table.play()


def of_one_that_was_played(table: ScriptedTable) -> None:
    """File it under the attempt before it, whose hands were out."""
    table.play(open_hands=True)
    for group in split_into_groups(a_deal(table)):
        table.step("wire", public=False, **pack_events(group, table.seal))
    table.play()


def of_one_that_was_void(table: ScriptedTable) -> None:
    """File it under an attempt that a lid ended."""
    table.void("LID_OPENED")
    for group in split_into_groups(a_deal(table)):
        table.step("wire", public=False, **pack_events(group, table.seal))
    table.redeal()
    table.play()


def of_one_that_never_began(table: ScriptedTable) -> None:
    """File it under a number that no attempt has."""
    table.play()
    table.attempt += 6
    for group in split_into_groups(a_deal(table)):
        table.step("wire", public=False, **pack_events(group, table.seal))
    table.attempt -= 6
    table.play()


def before_its_promise(table: ScriptedTable) -> None:
    """Deal the first cards of an attempt before it begins."""
    table.play()
    table.deal, table.attempt = table.deal + 1, table.attempt + 1
    for group in split_into_groups(a_deal(table)[:9]):
        table.step("wire", public=False, **pack_events(group, table.seal))
    table.deal, table.attempt = table.deal - 1, table.attempt - 1
    table.play()


@pytest.mark.parametrize(
    "script",
    [
        of_no_attempt,
        of_one_that_was_played,
        of_one_that_was_void,
        of_one_that_never_began,
        before_its_promise,
    ],
    ids=lambda script: script.__name__,
)
async def test_a_hidden_deal_is_found(
    script: Callable[[ScriptedTable], None], tmp_path: Path
) -> None:
    await write_journal(tmp_path, script)
    assert HIDDEN in said(verify(tmp_path))


@pytest.mark.parametrize("reason", ["LID_OPENED", "RESTARTED"])
async def test_attempts_that_are_left_out_are_found_whatever_was_before_them(
    reason: str, tmp_path: Path
) -> None:
    def jump(table: ScriptedTable) -> None:
        table.play()
        table.void(reason)
        table.redeal()
        table.attempt += 3
        table.play()

    await write_journal(tmp_path, jump)
    assert "attempt 3 was left out" in said(verify(tmp_path))


async def test_cards_that_were_on_their_way_at_the_end_are_no_finding(tmp_path: Path) -> None:
    def late(table: ScriptedTable) -> None:
        table.void("LID_OPENED")
        last = list(table.card(11, 0, 5))
        for group in split_into_groups(last):
            table.step("wire", public=False, **pack_events(group, table.seal))
        table.redeal()
        table.play()

    await write_journal(tmp_path, late)
    assert said(verify(tmp_path)) == ""


async def test_boards_may_bring_what_stands_in_another_journal(tmp_path: Path) -> None:
    def moved_away(table: ScriptedTable) -> None:
        table.attempt = 7
        for group in split_into_groups(list(table.card(40, 2, 5))):
            table.step("wire", public=False, **pack_events(group))
        table.play()

    await write_journal(tmp_path, moved_away)
    assert said(verify(tmp_path)) == ""
