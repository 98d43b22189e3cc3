"""The list of an event's matches, and of a match's attempts."""

from controller.console.view.match_list import build_attempt_lines


def test_attempts_are_numbered_within_their_deal_and_keep_the_tables_own_number() -> None:
    told = build_attempt_lines(
        [(6, 11, True), (7, 12, True), (7, 13, False), (8, 14, True), (7, 15, True)]
    )
    assert [(one.deal, one.of_deal, one.attempt) for one in told] == [
        (6, 1, 11),
        (7, 1, 12),
        (7, 2, 13),
        (8, 1, 14),
        (7, 3, 15),
    ]
    assert [one.revealed for one in told] == [True, True, False, True, True]
