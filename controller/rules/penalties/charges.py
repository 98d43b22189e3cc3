"""A charge: the alleged offence, the person or clock that reported it, and the time.

Source: seed 000 A15.1, A15.3.6, A15.3.8. A right to a penalty can lapse, for example if nobody
pointed out the offence at once. This module never decides whether it has lapsed. It returns the
possible reasons, and a person decides.
"""

from collections.abc import Callable
from typing import Literal

from controller.messages import Seat
from controller.rules.penalties.offences import catalogue_words
from controller.rules.penalties.penalty_record import Incident
from controller.rules.profile import GuandanProfile
from controller.seats import side_of
from controller.words import Words

PointedOutBy = Seat | Literal["referee", "clock", "outsider"]
"""A player of the table, or a source that is not a player (seed 000 A15.1)."""

LapseReason = Literal["not_at_once", "outsider", "acted_first", "exploited"]
"""The four reasons of seed 000 A15.3.8, in its order."""


class Charge(Incident, frozen=True, kw_only=True, gc=False):
    """An accusation: an offence that a person or a clock reports to a referee.

    `at_ms`: the time of the offence, not the time when it was pointed out. `kind`: the way of
    committing it, from the offence's list. `step`: how often a clock has run out for this offence
    (1, 2, …). With None, the step of the ladder is counted from the record. `harmed`: the offence
    cost the other side something. `pointed_out_*`, `outsider_first`, `acted_first`, `exploited`:
    possible reasons why the right to a penalty has lapsed. `lapse_disputed`: the sides disagree
    about that, so the chief decides. `settled_by_players`: None if the players settled nothing.
    Otherwise it is the referee's decision on the penalty that the players accepted or waived among
    themselves.
    """

    pointed_out_by: PointedOutBy
    pointed_out_when: Literal["at_once", "later_trick", "later_deal"] = "at_once"
    outsider_first: bool = False
    acted_first: bool = False
    exploited: bool = False
    lapse_disputed: bool = False
    settled_by_players: Literal["recognised", "annulled"] | None = None
    harmed: bool = False
    kind: str | None = None
    step: int | None = None

    def __post_init__(self) -> None:
        """Refuse a seat that is not on the accused side, and a `step` (1, 2, …) below 1."""
        if self.seat is not None and side_of(self.seat) != self.side:
            raise ValueError(f"seat {self.seat} does not play for {self.side}")
        if self.step is not None and self.step < 1:
            raise ValueError(f"step = {self.step}: expected 1 or more")


def lapse_reasons(charge: Charge) -> tuple[LapseReason, ...]:
    """Return the reasons why the right to a penalty may have lapsed.

    The tuple is empty if there is no reason. A report by a clock needs no person to point the
    offence out (seed 000 A21). Source: seed 000 A15.3.8 ①–④.
    """
    return tuple(reason for reason, may in _LAPSE_TESTS.items() if may(charge))


def lapse_words(reason: LapseReason, charge: Charge | None = None) -> Words:
    """Return the text for a reason why the right to a penalty may have lapsed.

    With a charge, the words fit the facts of the charge. An offence that only the referee saw was
    pointed out, but not by a player (seed 000 A15.3.8 ①).
    """
    if reason == "not_at_once" and charge is not None:
        nobody = _NOT_BY_A_PLAYER.get(str(charge.pointed_out_by))
        if charge.pointed_out_when == "at_once":
            return catalogue_words("lapse", nobody or reason)
        if nobody is None:
            return catalogue_words("lapse", "late")
    return catalogue_words("lapse", reason)


_NOT_BY_A_PLAYER = {"referee": "referee_alone", "outsider": "outsider_alone"}


def lapse_article(profile: GuandanProfile, reason: LapseReason) -> str | None:
    """Return the article by which a penalty lapses for `reason`, or None if there is none."""
    if profile.penalties.catalogue != "000":
        return None
    return f"A15.3.8{'①②③④'[list(_LAPSE_TESTS).index(reason)]}"


_LAPSE_TESTS: dict[LapseReason, Callable[[Charge], bool]] = {
    "not_at_once": lambda charge: (
        charge.pointed_out_by in ("referee", "outsider") or charge.pointed_out_when != "at_once"
    ),
    "outsider": lambda charge: charge.outsider_first or charge.pointed_out_by == "outsider",
    "acted_first": lambda charge: charge.acted_first,
    "exploited": lambda charge: charge.exploited,
}
