"""Questions a machine asks its journal when it starts."""

from controller.journal.attempt_history import attempt_histories, last_board_events
from controller.journal.entries import JournalEntry, StoredRow, decode
from controller.messages import AttemptOutcome
from tests.journal.scripted import DEALER_BOOT, READER_BOOT


def entry(kind: str, attempt: int | None = None, **data: object) -> JournalEntry:
    return JournalEntry(
        n=1, time="", boot="b0", kind=kind, public=False, deal=1, attempt=attempt, data=data
    )


def test_the_last_event_taken_is_known_per_boot_of_a_board(good_rows: list[StoredRow]) -> None:
    entries = [decode(row.body) for row in good_rows]
    taken = last_board_events(entries)
    assert set(taken) == {DEALER_BOOT, READER_BOOT}
    assert taken[READER_BOOT] == 3 * 108 + 107 + 10


def test_an_old_group_does_not_set_the_last_event_back() -> None:
    groups = [entry("wire", boots={"dealer": [7, first, last]}) for first, last in [(1, 9), (4, 5)]]
    assert last_board_events(groups) == {7: 9}


def test_attempts_know_how_they_ended_and_why(good_rows: list[StoredRow]) -> None:
    ended = attempt_histories(decode(row.body) for row in good_rows)
    assert [(each.deal, each.outcome, each.reasons) for each in ended.values()] == [
        (1, AttemptOutcome.OK, []),
        (2, AttemptOutcome.MISDEAL, ["MISSING_CARD"]),
        (2, AttemptOutcome.OK, []),
        (3, AttemptOutcome.VOID, ["LID_OPENED"]),
        (3, AttemptOutcome.OK, []),
    ]
