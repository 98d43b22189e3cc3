"""A reason must follow from the record: what two cards that left as one look like in it."""

import pytest

from controller.journal.packed_board_events import (
    AT_READER,
    GATE,
    LANDED,
    OUTLETS,
    STRAY,
    LoggedBoardEvent,
)
from controller.journal.verify.card_course import trace_course
from controller.journal.verify.reason_checks import RecordEvidence, check_reasons

NORTH, WEST = OUTLETS.index("N"), OUTLETS.index("W")
LANDS_NORTH = ((AT_READER, 1, 0), (GATE, 1, NORTH), (LANDED, 1, NORTH))


def evidence(*events: tuple[int, int, int]) -> RecordEvidence:
    """Return the evidence of a record of these events: code, index, place."""
    said = [
        LoggedBoardEvent(
            board="dealer",
            boot=1,
            number=number,
            attempt=1,
            code=code,
            seen=0,
            landed=0,
            index=index,
            place=place,
        )
        for number, (code, index, place) in enumerate(events, 1)
    ]
    return RecordEvidence(trace_course(said, 4), "NWSE", (1, 1, 1, 1), 0, {})


@pytest.mark.parametrize(
    ("events", "shown"),
    [
        ((*LANDS_NORTH, (STRAY, 0, NORTH)), True),
        ((*LANDS_NORTH, (STRAY, 0, WEST)), False),
        ((*LANDS_NORTH, (AT_READER, 2, 0), (GATE, 2, WEST), (STRAY, 0, NORTH)), False),
        (((STRAY, 0, NORTH),), False),
        (LANDS_NORTH, False),
    ],
    ids=["where the last card landed", "elsewhere", "while a card falls", "before any", "none"],
)
def test_a_double_feed_is_shown_by_a_landing_right_behind_another_alone(
    events: tuple[tuple[int, int, int], ...], shown: bool
) -> None:
    (ruling,) = check_reasons(["DOUBLE_FEED"], evidence(*events))
    assert ruling.says == ("follows" if shown else "disproved")
