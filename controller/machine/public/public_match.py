"""The public form of a match: its clocks, its present deal, tribute and standing."""

from typing import Any, Literal

from controller.machine.public.awaited_seats import awaited_seats, is_area_stopped
from controller.machine.public.next_step import next_words
from controller.machine.public.public_results import (
    copied_fields,
    numbers_by_side,
    public_end,
    public_pairs,
    public_rulings,
    public_score,
    unconfirmed_corrections,
)
from controller.machine.state.table_match import TableMatch
from controller.match.clocks import duty_clocks, match_clock, stopwatch
from controller.match.match_state import AnyMatch, BigTwoMatch, GuandanMatch, TributeExchange
from controller.match.phase import BEFORE_RELEASE, PHASE_WORDS, MatchPhase
from controller.match.sheet_writing import published_returns, published_tribute
from controller.messages import (
    HandDuties,
    PublicAreaStop,
    PublicChoices,
    PublicMatch,
    PublicMatchClock,
    PublicSeatClock,
    Seat,
    Tribute,
    TributePayment,
    TributeReturn,
)
from controller.rules.deal_result import FinishOrder
from controller.rules.match_standing import level_due
from controller.rules.ranks import level_text
from controller.rules.tribute import finish_owing_tribute
from controller.rules.tribute_returns import return_rule, return_visibility
from controller.seats import SIDES


def public_time(match: AnyMatch, now_ms: int) -> dict[str, Any]:
    """Return the public fields about time: the clocks of the match and of its players' duties."""
    clock, since_ms = match.clock, match_clock.stopped_since_ms(match.clock)
    stop = clock.area_stop or match_clock.UNKNOWN_AREA_STOP
    area_stop = None
    if since_ms is not None:
        area_stop = PublicAreaStop(since_ms=since_ms, reason=stop.reason, by=stop.by)
    clocks = [
        PublicSeatClock(
            **copied_fields(one, "duty", "seat", "side"),
            left_s=_seconds(duty_clocks.left_ms(one, now_ms)),
            running=not one.watch.is_paused,
        )
        for one in match.clocks
    ]
    if isinstance(match, BigTwoMatch):
        clocks += _choice_clock(match, now_ms)
    return {
        "start_ms": None if clock.watch is None else clock.watch.starts_ms,
        "clock": _clock(clock, now_ms),
        "area_stop": area_stop,
        "added_time_s": clock.added_ms // 1000,
        "clocks": clocks,
    }


def _clock(clock: match_clock.MatchClock, now_ms: int) -> PublicMatchClock | None:
    left_ms = match_clock.left_ms(clock, now_ms)
    if left_ms is None:
        return None
    ends_ms, deadline_ms = clock.limit_ms + clock.added_ms, None
    if clock.watch is not None and not clock.watch.is_paused:
        deadline_ms = stopwatch.moment_of_elapsed(clock.watch, ends_ms)
    running = clock.watch is not None and not clock.watch.is_paused
    return PublicMatchClock(left_s=_seconds(left_ms), running=running, deadline_ms=deadline_ms)


def _choice_clock(match: BigTwoMatch, now_ms: int) -> list[PublicSeatClock]:
    """Return a list with the clock of the present choice, or [] if no player must choose now.

    The clock is paused while the table is suspended or the area is paused.
    """
    if not match.choices or match.phase is not MatchPhase.CHOICES:
        return []
    asking = match.choices.current_round()
    deadline_ms = asking.deadline_ms()
    if deadline_ms is None:
        return []
    stands = is_area_stopped(match.clock) or match.suspended is not None
    named = asking.seats_asked()
    return [
        PublicSeatClock(
            duty=asked_choice(match) or "",
            seat=named[0] if len(named) == 1 else None,
            left_s=_seconds(deadline_ms - (match.now_ms if stands else now_ms)),
            running=not stands,
        )
    ]


def _seconds(ms: int) -> int:
    """Return milliseconds as whole seconds, rounded up. A negative time becomes 0."""
    return max(0, -(-ms // 1000))


def asked_choice(match: BigTwoMatch) -> Literal["open_hand", "doubling"] | None:
    """Return the choice before play that players must make now, or None in another phase."""
    if match.choices is None or match.phase is not MatchPhase.CHOICES:
        return None
    return "open_hand" if match.choices.doubling is None else "doubling"


def public_tribute(match: GuandanMatch) -> Tribute | None:
    """Return tributes and return cards of the present deal, or None if the deal has no exchange."""
    exchange, owed = match.exchange, finish_owing_tribute(match.profile, match.follows)
    if exchange is None or owed is None:
        return None
    plan = exchange.plan
    payments = [
        TributePayment(giver=one.giver, to=one.to, card=one.card)
        for one in published_tribute(exchange, match.level)
        if one.card is not None
    ]
    return Tribute(
        payers=list(exchange.payers),
        anti=None if match.phase is MatchPhase.ANTI_CHECK else exchange.anti,
        laid=list(exchange.laid),
        required={one.giver: one.card for one in payments},
        payments=payments,
        returns=_returns(match, exchange, owed),
        returns_shown=return_visibility(match.profile, owed),
        given=list(exchange.given),
        equal=plan is not None and plan.equal,
        choice_open=plan is not None and plan.choice_open,
        chooser=owed.up if plan is not None and plan.choice_open and not exchange.given else None,
    )


def _returns(
    match: GuandanMatch, exchange: TributeExchange, owed: FinishOrder
) -> list[TributeReturn]:
    """Return all return cards, given or not, that the tributes of the present deal require.

    `card` is None if the card is not given yet or is not public. While it is open which player
    receives which tribute, the result is [].
    """
    if exchange.plan is None:
        return []
    due = exchange.plan.returns
    waits = return_visibility(match.profile, owed) == "together" and len(exchange.given) < len(due)
    told = () if waits else published_returns(match, exchange)
    cards = {(one.giver, one.to): one.card for one in told}
    return [
        TributeReturn(
            giver=giver,
            to=to,
            rule=return_rule(match.profile, owed, giver, to),
            card=cards.get((giver, to)),
        )
        for giver, to in due
    ]


_CUT_PHASES = frozenset({MatchPhase.SHUFFLE, MatchPhase.CUT})


def public_match(
    play: TableMatch,
    *,
    profile: str,
    now_ms: int,
    deal: int | None,
    leader: Seat | None,
    turned_up: str | None,
) -> PublicMatch:
    """Return the public form of a table's match. `now_ms` is the time of the table's clock.

    `profile`, `deal`, `leader` and `turned_up` come from the machine. They are used only while the
    table has no match, for practice deals.
    """
    match = play.match
    if match is None:
        return PublicMatch(
            profile=profile, deal=deal, leader=leader, turned_up=turned_up, at_ms=now_ms
        )
    phase, soon = PHASE_WORDS[match.phase], next_words(match)
    return PublicMatch(
        at_ms=now_ms,
        phase=match.phase,
        phase_en=phase.en,
        phase_zh=phase.zh,
        next_en=soon.en,
        next_zh=soon.zh,
        waiting_for=list(awaited_seats(match)),
        attempt=play.attempt,
        announced=match_clock.last_announcement(match.clock),
        **_meeting_fields(match),
        **_deal_fields(match),
        **public_time(match, now_ms),
        **public_end(match),
        **_game_fields(match),
    )


def _meeting_fields(match: AnyMatch) -> dict[str, Any]:
    """Return the fields that identify the match: tournament, rulebook, pairs and seated players."""
    meeting, game = match.meeting, "guandan" if isinstance(match, GuandanMatch) else "bigtwo"
    return {
        **copied_fields(meeting, "event", "round", "match_no", "table_no", "stage"),
        "match": meeting.match_id,
        "profile": match.profile.name,
        "game": game,
        "pairs": public_pairs(meeting),
        "seated": list(match.seated),
        **copied_fields(match, "started", "suspended"),
    }


def _deal_fields(match: AnyMatch) -> dict[str, Any]:
    """Return the fields of the present deal that Guandan and Big Two both have.

    The turned-up card, and the leader that this card decides, are published with the release of the
    hands. In a deal by hand all players see the card at once, so both are published at once.
    """
    duties = match.duties if match.phase in BEFORE_RELEASE else None
    cuts = duties is not None and match.phase in _CUT_PHASES
    out = match.by_hand or match.phase not in BEFORE_RELEASE
    return {
        **copied_fields(match, "deal", "by_hand", "cutter", "led", "began_ms", "claimed"),
        "misdeals": match.misdeals,
        "hand_duties": _hand_duties(match),
        "cutters": list(duties.cutters) if duties and cuts else [],
        "cut_range": duties.cuts if duties and cuts else None,
        "leader": (match.leader or match.turned_to) if out else None,
        "turned_up": match.turned_up if out else None,
        "counted": list(match.counted),
        "claims": list(match.claims),
        "confirmed": list(match.confirmed),
    }


def _hand_duties(match: AnyMatch) -> HandDuties | None:
    duties = match.duties
    if duties is None or not match.by_hand or match.phase not in BEFORE_RELEASE:
        return None
    return HandDuties(
        shufflers=list(duties.shufflers),
        **copied_fields(duties, "shuffles", "turnup"),
        first_drawer=match.first_drawer or duties.first_drawer,
    )


def _game_fields(match: AnyMatch) -> dict[str, Any]:
    """Return the fields that are specific to the game of the match, Guandan or Big Two.

    Big Two has choices, cards left and totals. Guandan has levels, tribute, places, rulings and
    score.
    """
    if isinstance(match, BigTwoMatch):
        return {"choices": _choices(match), "left": match.left or None, "totals": match.totals}
    assert isinstance(match, GuandanMatch)  # there are two kinds
    standing, rules = match.standing, match.profile
    points = any(getattr(rules.score.deal_points, name) for name in ("R12", "R13", "R14"))
    level = match.level if match.deal else level_due(rules, standing)
    return {
        "levels": {side: level_text(standing.levels.of(side)) for side in SIDES},
        "level": level_text(level),
        "owner": match.owner,
        "failures": numbers_by_side(standing.failures),
        "points": numbers_by_side(standing.points) if points else None,
        "extra": match.extra,
        "tribute": public_tribute(match),
        "outs": list(match.outs),
        "order": list(match.places),
        "dead": list(match.dead),
        "rulings": public_rulings(match.rulings),
        "spoken": unconfirmed_corrections(match),
        "score": None if match.score is None else public_score(match.score),
    }


def _choices(match: BigTwoMatch) -> PublicChoices | None:
    """Return the public choices before play (open hand, doubling), or None before the release.

    All four players choose about open hands at the same time. So these answers are published only
    when all four are complete. Doubling is in turn, so each answer is published at once.
    """
    choices = match.choices
    if choices is None:
        return None
    opened = () if choices.open_hand.seats_asked() else choices.open_hand.seats_agreed()
    doubled = () if choices.doubling is None else choices.doubling.seats_agreed()
    return PublicChoices(asked=asked_choice(match), opened=list(opened), doubled=list(doubled))
