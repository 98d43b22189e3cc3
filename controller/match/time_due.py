"""When time alone has something to say next: a table sets one timer, and then ticks."""

from controller.match.clocks import countdown, match_clock
from controller.match.phase import MatchPhase
from controller.match.state import AnyMatch, BigTwoMatch
from controller.match.timing import is_next_deal_lost_to_time, is_stopped


def next_tick_ms(match: AnyMatch) -> int | None:
    """Return the next moment at which a tick would say or change something, on the match's clock.

    None while nothing runs. What is due already, since a stop is over or a referee's word is
    there, is due at `match.now_ms`; that time takes a further deal away is always announced.
    Every event may put it off or bring it forward.
    """
    if is_next_deal_lost_to_time(match, match.now_ms):
        return match.now_ms
    moments = (
        match_clock.next_due_ms(match.clock),
        countdown.first_due_ms(match.clocks),
        _choice_deadline_ms(match),
    )
    return min((moment for moment in moments if moment is not None), default=None)


def _choice_deadline_ms(match: AnyMatch) -> int | None:
    """Return when silence answers a choice of Big Two (seed 002 A6)."""
    if (
        not isinstance(match, BigTwoMatch)
        or match.phase is not MatchPhase.CHOICES
        or is_stopped(match)
    ):
        return None
    assert match.choices is not None  # CHOICES begins with them
    return match.choices.current_round().deadline_ms()
