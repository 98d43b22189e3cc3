"""The choices that the players of Big Two make before play: open hand, then doubling.

All four players choose at the same time whether to show their hands. Then they choose one after
another, beginning with the first hand, whether to double. No answer in time means no (seed 002 A6).
`at_ms` is the time of any clock that does not go backwards.
"""

import msgspec
from msgspec.structs import replace

from controller.messages import Seat
from controller.rules.big_two import ChoiceRules
from controller.seats import SEATS


class ChoiceAnswer(msgspec.Struct, frozen=True, gc=False):
    """The answer of one seat to a choice, with the time of the answer.

    `timed_out` is True for the default answer of a seat that did not answer in time.
    """

    seat: Seat
    yes: bool
    at_ms: int
    timed_out: bool = False


class ChoiceRound(msgspec.Struct, frozen=True, gc=False):
    """One choice before play (open hand or doubling), with the answers that seats have given.

    `first` is the first hand (the seat that leads), `answers` are in order of time. `stood_ms` is
    how long the clock of the present choice was paused.
    """

    choice: ChoiceRules
    first: Seat
    since_ms: int
    answers: tuple[ChoiceAnswer, ...] = ()
    stood_ms: int = 0

    def seats_asked(self) -> tuple[Seat, ...]:
        """Return the seats that may answer now, or () if all seats have answered.

        If the seats answer in turn, only the next seat may answer. Otherwise all seats without an
        answer may.
        """
        answered = {answer.seat for answer in self.answers}
        at = SEATS.index(self.first)
        waiting = tuple(seat for seat in SEATS[at:] + SEATS[:at] if seat not in answered)
        return waiting[:1] if self.choice.order == "in_turn" else waiting

    def deadline_ms(self) -> int | None:
        """Return when defaults replace missing answers, or None if all seats have answered."""
        if not self.seats_asked():
            return None
        in_turn = self.choice.order == "in_turn" and self.answers
        asked_ms = self.answers[-1].at_ms if in_turn else self.since_ms
        return asked_ms + self.stood_ms + self.choice.limit_s * 1000

    def seats_agreed(self) -> tuple[Seat, ...]:
        """Return the seats that have answered yes so far, in the order N, W, S, E."""
        chosen = {answer.seat for answer in self.answers if answer.yes}
        return tuple(sorted(chosen, key=SEATS.index))


class ChoicesBeforePlay(msgspec.Struct, frozen=True, gc=False):
    """The two choices of a deal of Big Two: open hand, then doubling.

    Doubling begins when all seats have chosen whether to show their hands.
    """

    open_hand: ChoiceRound
    doubling: ChoiceRound | None
    doubling_choice: ChoiceRules

    def current_round(self) -> ChoiceRound:
        """Return the choice that the seats must make now. After both choices, return doubling."""
        return self.doubling or self.open_hand

    def is_over(self) -> bool:
        """Return whether both choices are complete, so that play begins."""
        return self.doubling is not None and not self.doubling.seats_asked()


def begin_choices(
    open_hand: ChoiceRules, doubling: ChoiceRules, first: Seat, at_ms: int
) -> ChoicesBeforePlay:
    """Return the state of both choices at the start of a deal, before any seat has answered.

    `first` is the first hand.
    """
    return ChoicesBeforePlay(ChoiceRound(open_hand, first, at_ms), None, doubling)


def answer_choice(
    opening: ChoicesBeforePlay, seat: Seat, yes: bool, at_ms: int
) -> ChoicesBeforePlay:
    """Return `opening` (the two choices) with the answer that `seat` gave at `at_ms`.

    Seats whose time is up get their default answers first. Raises ValueError if `seat` must not
    answer then, for example because its time is up.
    """
    opening = answer_for_silent(opening, at_ms)
    asking = opening.current_round()
    if seat not in asking.seats_asked():
        asked = " ".join(asking.seats_asked()) or "all have chosen"
        raise ValueError(f"{seat} is not asked: {asked}")
    answered = _add_answers(asking, ChoiceAnswer(seat, yes, at_ms))
    return _begin_doubling(_replace_current_round(opening, answered))


def answer_for_silent(opening: ChoicesBeforePlay, at_ms: int) -> ChoicesBeforePlay:
    """Return the choices at `at_ms`, with default answers for the seats whose time is up.

    An answer at the limit is too late (A6: 达到时间). Each default answer has the time of its own
    limit, so late or repeated calls of this function make no difference.
    """
    while (due_ms := opening.current_round().deadline_ms()) is not None and due_ms <= at_ms:
        asking = opening.current_round()
        default, asked = asking.choice.default, asking.seats_asked()
        silent = [ChoiceAnswer(seat, default, due_ms, True) for seat in asked]
        opening = _begin_doubling(_replace_current_round(opening, _add_answers(asking, *silent)))
    return opening


def extend_deadline(opening: ChoicesBeforePlay, ms: int) -> ChoicesBeforePlay:
    """Return the choices with the present deadline `ms` later, because the clock was paused."""
    asking = opening.current_round()
    return _replace_current_round(opening, replace(asking, stood_ms=asking.stood_ms + ms))


def _add_answers(asking: ChoiceRound, *answers: ChoiceAnswer) -> ChoiceRound:
    stood_ms = 0 if asking.choice.order == "in_turn" else asking.stood_ms
    return replace(asking, answers=asking.answers + answers, stood_ms=stood_ms)


def _replace_current_round(opening: ChoicesBeforePlay, asking: ChoiceRound) -> ChoicesBeforePlay:
    if opening.doubling is None:
        return replace(opening, open_hand=asking)
    return replace(opening, doubling=asking)


def _begin_doubling(opening: ChoicesBeforePlay) -> ChoicesBeforePlay:
    """Begin doubling if all seats have chosen about the open hand, and return the choices."""
    done = opening.open_hand
    if opening.doubling is not None or done.seats_asked():
        return opening
    doubling = ChoiceRound(opening.doubling_choice, done.first, done.answers[-1].at_ms)
    return replace(opening, doubling=doubling)
