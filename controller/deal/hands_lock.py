"""The 27-lock: all conditions that must be true before four hands may be released.

The dealer board has a lock of its own. A release needs both locks to be open.
"""

from collections.abc import Sequence

from controller.deal.ledger import SEATS, Ledger
from controller.deal.observations import FinalCount


def lock_reasons(ledger: Ledger, sequence: str, final_count: FinalCount) -> tuple[str, ...]:
    """Return the reasons why the hands may not be released, or () if they may.

    The reasons are names of the fault catalogue.
    """
    broken = [name for name, is_broken in _conditions(ledger, sequence, final_count) if is_broken]
    all_there = final_count.hopper_empty and final_count.path_empty and final_count.tray_empty
    known = known_set_faults(final_count.set_faults, all_there=all_there)
    reasons = list(dict.fromkeys([*broken, *known]))
    if not reasons and not final_count.board_locked:
        # If there are other reasons, the board refuses because of them.
        reasons.append("BOARD_REFUSED")
    return tuple(reasons)


def known_set_faults(set_faults: Sequence[str], *, all_there: bool) -> list[str]:
    """Return those of `set_faults` that are certain: MISSING_CARD only if `all_there` is True.

    `all_there` is True if hopper, path and tray are empty, so all cards are in the pockets.
    Otherwise the missing card may still be in hopper, path or tray.
    """
    return [name for name in set_faults if all_there or name != "MISSING_CARD"]


def _conditions(ledger: Ledger, sequence: str, final_count: FinalCount) -> list[tuple[str, bool]]:
    hand = ledger.expected // len(SEATS)
    landed = ledger.count_landed()
    counts = tuple(landed[seat] for seat in SEATS)
    places = ledger.places()
    strays = any(sequence[place - 1] != ledger.cards[i - 1].landed for i, place in places.items())
    return [
        ("HOPPER_NOT_EMPTY", not final_count.hopper_empty),
        ("PATH_NOT_CLEAR", not final_count.path_empty),
        ("COUNT_OVER", not final_count.tray_empty),
        ("WRONG_POCKET", strays),
        ("COUNT_SHORT", any(count < hand for count in counts)),
        ("COUNT_OVER", any(count > hand for count in counts)),
        ("COUNT_SHORT", sorted(places.values()) != list(range(1, ledger.expected + 1))),
        ("EVENT_LOST", final_count.board_fed != len(ledger.cards)),
        ("EVENT_LOST", final_count.board_landed != counts),
        ("PULSE_COUNT", final_count.reader_pulses != len(ledger.cards)),
        ("SENSOR_STUCK", not (final_count.lift_down and all(final_count.pockets_seen))),
    ]
