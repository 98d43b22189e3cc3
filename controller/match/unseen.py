"""What may not be seen before the rest of it is there, though it happened and counts.

In Big Two all four choose at once whether to show their hands (seed 002 A6): who has chosen
it comes out when the last one has. Two returns that are shown together (seed 000 A10.2) are
both seen when both are laid. Which answers and cards are due stands in the match; here only
what is kept back meanwhile.
"""

from controller.match.events import ChoiceAnswered, MatchEvent, ReturnCorrected, ReturnLaid
from controller.match.phase import MatchPhase
from controller.match.state import AnyMatch, BigTwoMatch, GuandanMatch
from controller.rules.returns import return_visibility
from controller.rules.tribute import finish_owing_tribute


def is_event_withheld(match: AnyMatch, event: MatchEvent) -> bool:
    """Tell whether an event, after which the match is `match`, may not be seen yet."""
    says = isinstance(event, ChoiceAnswered) or (
        isinstance(event, ReturnLaid | ReturnCorrected) and event.value is not None
    )
    return says and is_withholding(match)


def is_withholding(match: AnyMatch) -> bool:
    """Tell whether a match still waits for the rest of what comes out together."""
    if isinstance(match, BigTwoMatch):
        choices = match.choices
        return (
            match.phase is MatchPhase.CHOICES and choices is not None and choices.doubling is None
        )
    assert isinstance(match, GuandanMatch)  # there are two kinds
    owed = finish_owing_tribute(match.profile, match.follows)
    if match.phase is not MatchPhase.RETURN or owed is None:
        return False
    return return_visibility(match.profile, owed) == "together"
