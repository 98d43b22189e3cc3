"""Clocks of the table; asked in the examples 37 and 38."""

from controller.match import match_events
from controller.match.clocks.stopwatch import ClockReport
from controller.match.match_effects import Effects
from controller.match.phase import MatchPhase
from controller.match.ruling_desk import legal_proposals
from controller.messages import Seat
from controller.rules.penalties.proposals import PenaltyProposal, TurnLost
from controller.rules.profile import GuandanProfile
from tests.examples.table import Table, clock_says

Got = dict[str, object]


def tribute_time(profile: GuandanProfile, *, previous: str, after_s: int) -> Got:
    """The one payer lays his tribute `after_s` seconds after tribute was opened."""
    table = Table(profile).deals([previous])
    table.release().count()
    table.do(match_events.AntiTributeAnswered, stands=False)
    exchange = table.match.exchange
    assert exchange is not None
    (payer,) = exchange.payers
    table.wait(after_s)
    return _told(table, [table.do(match_events.TributeLaid, seat=payer)])


def return_time(profile: GuandanProfile, *, previous: str, after_s: int) -> Got:
    """UP returns a card `after_s` seconds after he had his tribute."""
    table = Table(profile).deals([previous])
    table.release().count().tribute()
    exchange = table.match.exchange
    assert exchange is not None
    assert exchange.plan is not None
    ((giver, _),) = exchange.plan.returns
    table.wait(after_s)
    told = _told(table, [table.do(match_events.ReturnLaid, seat=giver)])
    assert table.match.phase is MatchPhase.PLAY
    return told


def play_time(profile: GuandanProfile, *, seat: Seat, looks_s: list[int], plays: bool) -> Got:
    """A player is counted for, and the clock is asked at these seconds; at the last he plays."""
    table = Table(profile).play()
    table.do(match_events.PlayClockStarted, seat=seat)
    told: list[Effects] = []
    passed = 0
    for look in looks_s:
        table.wait(look - passed)
        passed = look
        last = look == looks_s[-1] and plays
        told.append(
            table.do(match_events.PlayMade, seat=seat)
            if last
            else table.do(match_events.TimePassed)
        )
    return _told(table, told)


def _told(table: Table, told: list[Effects]) -> Got:
    """What the clock said, and what that leads to by the ladder."""
    dues = [effect.report for effect in clock_says(told)]
    proposed = [_proposal(table, due) for due in dues]
    return {
        "says": [due.kind for due in dues],
        "proposed": [proposal.penalty for proposal in proposed],
        "articles": [proposal.article for proposal in proposed],
        "loses_turn": [
            effect.seat
            for proposal in proposed
            for effect in proposal.effects
            if isinstance(effect, TurnLost)
        ],
    }


def _proposal(table: Table, due: ClockReport) -> PenaltyProposal:
    assert due.offence is not None
    assert due.seat is not None
    charge = table.charge(due.offence, due.seat, step=due.step)
    return legal_proposals(table.match, charge)[0]
