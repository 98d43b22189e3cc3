"""How cards are played: what a referee is asked about, and no machine sees.

One function for each rule of [conduct]; straights and undeclared wild cards, which stand
there too, are the combinations' (controller/rules/combos).
"""

from collections.abc import Sequence
from typing import Literal

from controller.messages import Seat
from controller.rules.profile import GuandanProfile
from controller.seats import partner

PassForm = Literal["word", "tap"]
"""How a player passes: he says 过, or taps the table."""

FinishPlace = Literal["UP", "2ND", "3RD"]


def is_report_due(profile: GuandanProfile, before: int, left: int) -> bool:
    """Tell whether a play after which `left` of `before` cards are held asks for a report.

    Once a deal: by the play that brings a hand to ten or less (seed 003 R3: eight). Who
    goes out with that play reports nothing; seed 000 A12.
    """
    return 0 < left <= profile.conduct.report_at < before


def may_ask_count(profile: GuandanProfile, reported: bool) -> bool:
    """Tell whether one may ask a player how many cards he holds, and he may answer.

    Not after he reported clearly (seed 000 A12.3).
    """
    return not reported or profile.conduct.report_question == "allowed"


def leader_by_wind(profile: GuandanProfile, finished: Seat, place: FinishPlace) -> Seat | None:
    """Return who leads after nobody beat the last play of `finished`: his partner (借风).

    For UP seed 000 A9 says so; for 2ND it is provisional. None where the rulebook gives the
    wind to nobody: also after 3RD, whose play ends the deal.
    """
    with_wind = place == "UP" or (place == "2ND" and profile.conduct.wind_second)
    return partner(finished) if with_wind and profile.conduct.wind == "partner" else None


def may_pass_by(profile: GuandanProfile, form: PassForm, used: PassForm | None) -> bool:
    """Tell whether a player may pass by `form`, who `used` that one so far in the match.

    Each keeps to one form for the whole match (seed 000 A6.2).
    """
    return used in (None, form) or profile.conduct.pass_form == "any"


def is_laid_in_form(profile: GuandanProfile, *, at_once: bool, in_order: bool) -> bool:
    """Tell whether a play was laid as it has to be: all cards at once, low to high.

    `in_order` holds, too, for the wild card in its place (seed 000 A11.1–3).
    """
    return at_once and (in_order or profile.conduct.play_form == "at_once")


def is_exposed(profile: GuandanProfile, *, facing_oneself: bool) -> bool:
    """Tell whether an unplayed card counts as exposed, by how it is held (seed 000 A16.1)."""
    return profile.conduct.hold == "facing_oneself" and not facing_oneself


def must_turn_discards(profile: GuandanProfile) -> bool:
    """Tell whether everyone has to lay his cards face down after a trick.

    Seed 000 A11.4; in seed 003 R4.1 the sides may agree on something else.
    """
    return profile.conduct.discards == "face_down"


def may_look_at(profile: GuandanProfile, *, own: bool, this_trick: bool) -> bool:
    """Tell whether a player may look at played cards, his `own` or another's.

    Cards of the present trick lie open. Of older ones nobody may look at another's (seed
    000 A11.4), and by seed 003 R4.2 not even at his own.
    """
    return this_trick or (own and profile.conduct.discards == "face_down")


def may_take_back(profile: GuandanProfile, *, legal: bool, seen: bool) -> bool:
    """Tell whether cards that were laid come back into the hand.

    What is no `legal` play always does, at the price of its penalty (seed 000 A16.3). A
    legal one stays once the other side has `seen` and named it (seed 000 A16.2), and by
    seed 003 R3 as soon as it lies on the table.
    """
    return not legal or not (seen or profile.conduct.card_down_stays)


def is_deal_ended(out: Sequence[Seat]) -> bool:
    """Tell whether a deal is over when `out` have gone out, in this order.

    After three, or after two of one side: a double-down (seed 000 A3.5, A6.4).
    """
    return len(out) >= 3 or (len(out) == 2 and out[1] == partner(out[0]))


def passes_to_end(holding: int, *, last_player_out: bool) -> int:
    """Return how many passes in a row end a trick, with `holding` players that have cards.

    All others who still hold cards pass: three of four, and fewer once players are out
    (seed 000 A3.7, A6.3). `last_player_out`: whose play stands has no cards left.
    """
    return holding if last_player_out else holding - 1
