"""What a penalty does to the match: a closed set of values that the match acts on.

What happens with the cards on the table is no part of it: that is the remedy text of an
offence (offences.toml).
"""

from collections.abc import Callable

import msgspec

from controller.messages import Seat, Side
from controller.rules.levels import level_change_words
from controller.rules.penalties.charges import Charge
from controller.rules.penalties.ladder import LegalPenalty
from controller.rules.penalties.offences import catalogue_words, find_offence
from controller.rules.penalties.records import Penalty
from controller.rules.profile import GuandanProfile
from controller.rules.seat_words import SIGNER_NAMES
from controller.rules.seats import other_side
from controller.words import Words


class DealLost(msgspec.Struct, frozen=True, gc=False, tag="deal_lost"):
    """`side` loses this deal; it counts as a double-down (seed 000 A15.3.3)."""

    side: Side


class LevelUp(msgspec.Struct, frozen=True, gc=False, tag="level_up"):
    """`side` climbs `steps` levels at once; the deal goes on at its level (seed 003 R6)."""

    side: Side
    steps: int


class LevelDown(msgspec.Struct, frozen=True, gc=False, tag="level_down"):
    """`side` falls `steps` levels at once; the deal goes on at its level (seed 003 R6.3)."""

    side: Side
    steps: int


class MatchLost(msgspec.Struct, frozen=True, gc=False, tag="match_lost"):
    """`side` loses this match (seed 000 A15.3.4)."""

    side: Side


class PairDisqualified(msgspec.Struct, frozen=True, gc=False, tag="disqualified"):
    """`pair` may not go on in the event (seed 000 A15.3.5; seed 004 rule D)."""

    pair: str


class DeadHand(msgspec.Struct, frozen=True, gc=False, tag="dead_hand"):
    """The cards left to `seat` are dead, and he counts as LAST (seed 000 A18.4)."""

    seat: Seat


class TurnLost(msgspec.Struct, frozen=True, gc=False, tag="turn_lost"):
    """`seat` may not lead or follow: in the whole trick (圈), or once in it (seed 000 A15.3.2)."""

    seat: Seat
    whole_trick: bool


Consequence = DealLost | LevelUp | LevelDown | MatchLost | PairDisqualified | DeadHand | TurnLost

Consequences = tuple[Consequence, ...]
ProfileKeys = tuple[str, ...]


def consequences_of(
    profile: GuandanProfile, charge: Charge, legal_penalty: LegalPenalty
) -> tuple[Consequences, ProfileKeys]:
    """Return what a legal penalty does to the match, and the profile's rules it rests on."""
    effects, keys = _CONSEQUENCES_BY_PENALTY.get(legal_penalty.penalty, _no_consequences)(
        profile, charge
    )
    keys = (*legal_penalty.keys, *(key for key in keys if key not in legal_penalty.keys))
    return (*effects, *_seat_consequences(charge.seat, legal_penalty)), keys


def consequence_words(effect: Consequence, earlier: int | None = None) -> Words:
    """Return a consequence in words.

    `earlier`: the deal that it is for, where a later one is played now.
    """
    name = str(effect.__struct_config__.tag)
    if earlier is not None and isinstance(effect, DealLost | DeadHand):
        name = f"earlier_{name}"
    if isinstance(effect, TurnLost) and effect.whole_trick:
        name = "trick_lost"
    said, text = msgspec.structs.asdict(effect) | {"deal": earlier}, catalogue_words("effect", name)
    told = {
        key: SIGNER_NAMES.get(value) or Words(str(value), str(value)) for key, value in said.items()
    }
    if isinstance(effect, LevelUp | LevelDown):
        told["levels"] = level_change_words(
            effect.steps if isinstance(effect, LevelUp) else -effect.steps
        )
    english, chinese = (
        {key: getattr(value, language) for key, value in told.items()} for language in ("en", "zh")
    )
    return Words(text.en.format(**english), text.zh.format(**chinese))


def penalty_words(penalty: Penalty, effects: Consequences) -> Words:
    """Return what a player gets, in words: the penalty, or what is lost where none is recorded."""
    lost = [
        catalogue_words("also", also)
        for effect in effects
        if (also := _loss_name(effect)) is not None
    ]
    if penalty != "none" or not lost:
        return catalogue_words("penalty", penalty)
    return Words(", ".join(one.en for one in lost), "，".join(one.zh for one in lost))


def _loss_name(effect: Consequence) -> str | None:
    if isinstance(effect, TurnLost):
        return "trick" if effect.whole_trick else "turn"
    return "dead_hand" if isinstance(effect, DeadHand) else None


def _no_consequences(profile: GuandanProfile, charge: Charge) -> tuple[Consequences, ProfileKeys]:
    return (), ()


def _foul_consequences(profile: GuandanProfile, charge: Charge) -> tuple[Consequences, ProfileKeys]:
    """A deal lost (seed 000 A15.3.3), or levels (seed 003 R6.2–3)."""
    rules, side = profile.penalties, charge.side
    if find_offence(charge.offence).trait == "hidden" and rules.hidden == "levels":
        theirs, own = rules.hidden_levels
        effects = (LevelUp(other_side(side), theirs), LevelDown(side, own))
        return effects, ("penalties.hidden", "penalties.hidden_levels")
    if rules.foul == "level":
        effect = LevelUp(other_side(side), rules.foul_levels)
        return (effect,), ("penalties.foul", "penalties.foul_levels")
    return (DealLost(side),), ("penalties.foul",)


def _forfeit_consequences(
    profile: GuandanProfile, charge: Charge
) -> tuple[Consequences, ProfileKeys]:
    """The match, where the other side's better score may stay (seed 000 A15.3.4)."""
    return (MatchLost(charge.side),), ()


def _disqualification_consequences(
    profile: GuandanProfile, charge: Charge
) -> tuple[Consequences, ProfileKeys]:
    """The match at the fixed score, and the event (seed 000 A15.3.5)."""
    return (MatchLost(charge.side), PairDisqualified(charge.pair)), ()


_CONSEQUENCES_BY_PENALTY: dict[
    Penalty, Callable[[GuandanProfile, Charge], tuple[Consequences, ProfileKeys]]
] = {
    "foul": _foul_consequences,
    "match_forfeit": _forfeit_consequences,
    "disqualification": _disqualification_consequences,
}


def _seat_consequences(seat: Seat | None, way: LegalPenalty) -> Consequences:
    if seat is None:
        return ()
    effects: Consequences = (DeadHand(seat),) if way.dead_hand else ()
    if way.turn_loss is None:
        return effects
    return (*effects, TurnLost(seat, whole_trick=way.turn_loss == "trick"))
