"""People who deal by hand, as the public state tells them, and play a deal with few words."""

from typing import Any

from controller.messages import PublicMatch, Role, Seat
from tests.machine.stages import Told, all_press, ordered

CARD, PAID, RETURNED = "SK", "DA", "D5"
"""Cards that are turned up, paid and returned, where people say which."""


def match_at(trial: Told) -> PublicMatch:
    """The match as everybody sees it."""
    match = trial.states[-1].match
    assert match is not None
    return match


async def drawn_by_hand(trial: Told, reason: str = "the machine is broken") -> None:
    """Deal the present deal by hand, each by whose duty it is, until the hands are counted."""
    await ordered(trial, Role.REFEREE, "dealt_by_hand", reason=reason)
    await drawn_on(trial)


async def drawn_on(trial: Told) -> None:
    """Do what is left of the duties of a deal by hand."""
    while (phase := match_at(trial).phase) in _DUTIES:
        await _DUTIES[phase](trial)
        assert match_at(trial).phase != phase
    await all_press(trial, "NWSE")


async def _shuffled(trial: Told) -> None:
    match = match_at(trial)
    assert match.hand_duties is not None
    seat = next(iter(match.hand_duties.shufflers), "N")
    await ordered(trial, Role.REFEREE, "shuffled", seat=seat)


async def _cut(trial: Told) -> None:
    await ordered(trial, Role.REFEREE, "cut_by_hand", seat=match_at(trial).cutters[0], n=40)


async def _turned_up(trial: Told) -> None:
    await ordered(trial, Role.REFEREE, "turned_up", card=CARD)


async def _dealt(trial: Told) -> None:
    duties = match_at(trial).hand_duties
    assert duties is not None
    said: dict[str, Any] = {"turned_to": "E"} if duties.turnup else {}
    await ordered(trial, Role.REFEREE, "hands_dealt", **said)


_DUTIES = {"shuffle": _shuffled, "cut": _cut, "turnup": _turned_up, "dealing": _dealt}


async def exchanged(trial: Told, *, anti: bool = False, card: str = PAID) -> None:
    """Pay what is owed, where no machine knows the hands: every question is the referee's."""
    if match_at(trial).phase != "anti_check":
        return
    await ordered(trial, Role.REFEREE, "anti", stands=anti)
    tribute = match_at(trial).tribute
    if match_at(trial).phase != "tribute":
        return
    assert tribute is not None
    await all_press(trial, "".join(tribute.payers))
    other = {"other": card} if len(tribute.payers) > 1 else {}
    seat = tribute.payers[0]
    await ordered(trial, Role.REFEREE, "tribute", seat=seat, card=card, **other)
    givers: list[Seat] = match_at(trial).waiting_for
    for giver in givers:
        await ordered(trial, Role.REFEREE, "return", seat=giver, card=RETURNED)


async def played(trial: Told, order: str) -> None:
    """Enter and confirm who went out."""
    await ordered(trial, Role.REFEREE, "result", order=list(order))
    await ordered(trial, Role.REFEREE, "confirm")
