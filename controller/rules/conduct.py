"""Rules about how cards are played. A referee applies them, and the machine cannot observe them.

There is one function for each rule of the table [conduct]. Two keys of that table, for straights
and undeclared wild cards, belong to the combinations (controller/rules/combos).
"""

from collections.abc import Sequence
from typing import Literal

from controller.messages import Seat
from controller.rules.profile import GuandanProfile
from controller.seats import partner

PassForm = Literal["word", "tap"]
"""How a player passes: with the word 过, or with a tap on the table."""

FinishPlace = Literal["UP", "2ND", "3RD"]


def is_report_due(profile: GuandanProfile, before: int, left: int) -> bool:
    """Return True if a play that reduces a hand from `before` to `left` cards requires a report.

    A report is due once a deal, for the play that brings a hand to ten cards or less (seed 003 R3:
    eight). A player who goes out with that play reports nothing (seed 000 A12).
    """
    return 0 < left <= profile.conduct.report_at < before


def may_ask_count(profile: GuandanProfile, reported: bool) -> bool:
    """Return True if a player may be asked for the number of cards in hand, and may answer.

    This is not allowed after the player reported clearly (seed 000 A12.3).
    """
    return not reported or profile.conduct.report_question == "allowed"


def leader_by_wind(profile: GuandanProfile, finished: Seat, place: FinishPlace) -> Seat | None:
    """Return the seat that leads if the last play of `finished` is not beaten: the partner (借风).

    Seed 000 A9 states this rule for UP. For 2ND the rule is provisional. The result is None if the
    rulebook has no 借风 for that place, and after 3RD, whose play ends the deal.
    """
    with_wind = place == "UP" or (place == "2ND" and profile.conduct.wind_second)
    return partner(finished) if with_wind and profile.conduct.wind == "partner" else None


def may_pass_by(profile: GuandanProfile, form: PassForm, used: PassForm | None) -> bool:
    """Return True if a player who has `used` one form so far in the match may pass by `form`.

    Each player keeps one form for the whole match (seed 000 A6.2).
    """
    return used in (None, form) or profile.conduct.pass_form == "any"


def is_laid_in_form(profile: GuandanProfile, *, at_once: bool, in_order: bool) -> bool:
    """Return True if a play was laid in the required form: all cards at once, low to high.

    `in_order` also covers the place of a wild card (seed 000 A11.1–3).
    """
    return at_once and (in_order or profile.conduct.play_form == "at_once")


def is_exposed(profile: GuandanProfile, *, facing_oneself: bool) -> bool:
    """Return True if an unplayed card counts as exposed by the way it is held (seed 000 A16.1)."""
    return profile.conduct.hold == "facing_oneself" and not facing_oneself


def must_turn_discards(profile: GuandanProfile) -> bool:
    """Return True if all players must lay their cards face down after a trick.

    Seed 000 A11.4. Under seed 003 R4.1 the sides may agree on another form.
    """
    return profile.conduct.discards == "face_down"


def may_look_at(profile: GuandanProfile, *, own: bool, this_trick: bool) -> bool:
    """Return True if a player may look at played cards: the player's `own`, or those of another.

    The cards of the present trick are face up. The rules forbid a look at older cards of another
    player (seed 000 A11.4), and seed 003 R4.2 also at the player's own.
    """
    return this_trick or (own and profile.conduct.discards == "face_down")


def may_take_back(profile: GuandanProfile, *, legal: bool, seen: bool) -> bool:
    """Return True if cards that were laid go back into the hand.

    Cards that are no `legal` play always go back, and the penalty for them applies (seed 000
    A16.3). A legal play stays once the other side has `seen` and named the play (seed 000 A16.2).
    Under seed 003 R3 a legal play stays as soon as the cards are on the table.
    """
    return not legal or not (seen or profile.conduct.card_down_stays)


def is_deal_ended(out: Sequence[Seat]) -> bool:
    """Return True if a deal is over when the seats `out` have gone out, in this order.

    A deal ends after three seats, or after two seats of one side: a double-down (seed 000 A3.5,
    A6.4).
    """
    return len(out) >= 3 or (len(out) == 2 and out[1] == partner(out[0]))


def passes_to_end(holding: int, *, last_player_out: bool) -> int:
    """Return how many passes in a row end a trick, with `holding` players that have cards.

    All others who still hold cards must pass: three of four, and fewer after players are out (seed
    000 A3.7, A6.3). `last_player_out`: the player of the highest play has no cards left.
    """
    return holding if last_player_out else holding - 1
