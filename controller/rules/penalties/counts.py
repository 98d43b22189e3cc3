"""How often before: what of the record a penalty is raised for (ladder.py)."""

from collections.abc import Callable
from typing import Literal

from controller.rules.penalties.charges import Charge
from controller.rules.penalties.offences import Offence, offence_catalogue
from controller.rules.penalties.records import CountScope, Penalty, PenaltyRecord, earlier_entries

EarlierCount = Callable[[PenaltyRecord, Charge, Offence], int | None]
"""How often before; None: this rung is not for this offence."""


def count_violations(record: PenaltyRecord, charge: Charge, row: Offence) -> int | None:
    """Return the violations of the pair in the round; its disturbances too, for one.

    Seed 000 A15.3.3 ①: the second time, of either. A first disturbance is never raised.
    """
    before = earlier_entries(record, charge, "pair", "round")
    disturbs = row.trait == "disturbance"
    if disturbs and all(entry.offence != row.id for entry in before):
        return None
    return sum(
        entry.penalty == "violation" or (disturbs and entry.offence == row.id) for entry in before
    )


def count_warnings_out_of_turn(record: PenaltyRecord, charge: Charge, row: Offence) -> int | None:
    """Return the side's warnings in the deal since those that made a foul (seed 003 R6.2)."""
    if row.trait != "out_of_turn":
        return None
    such = {one.id for one in offence_catalogue().values() if one.trait == row.trait}
    since = 0
    for entry in earlier_entries(record, charge, "side", "deal"):
        if entry.penalty == "foul" and entry.offence == row.id:
            since = 0
        since += entry.penalty == "warning" and entry.offence in such
    return since


def count_hidden_cards(record: PenaltyRecord, charge: Charge, row: Offence) -> int | None:
    """Return how often the side hid cards in the match (seed 003 R6.3)."""
    if row.trait != "hidden":
        return None
    return sum(
        entry.offence == row.id for entry in earlier_entries(record, charge, "side", "match")
    )


def counter_of_penalty(
    penalty: Penalty, counted: Literal["pair", "side"], scope: CountScope
) -> EarlierCount:
    """Return the count of a penalty that a pair or side was given within a scope."""

    def count(record: PenaltyRecord, charge: Charge, row: Offence) -> int:
        return sum(
            entry.penalty == penalty for entry in earlier_entries(record, charge, counted, scope)
        )

    return count
