"""The match as anybody may know it: the players' side of the public state.

It is made from the match alone; nothing of it can hold a face that the rules do not show.
"""

from typing import Any

from controller.machine.play.values import TableMatch
from controller.machine.public.clocks import asked_choice, public_time
from controller.machine.public.exchange import public_tribute
from controller.machine.public.next_step import next_words
from controller.machine.public.result import numbers_by_side, public_end, public_score
from controller.machine.public.ruling import public_rulings, unconfirmed_corrections
from controller.machine.public.waiting import awaited_seats
from controller.match.clocks import match_clock
from controller.match.phase import BEFORE_RELEASE, PHASE_WORDS, MatchPhase
from controller.match.state import AnyMatch as MatchState
from controller.match.state import BigTwoMatch, GuandanMatch
from controller.messages import HandDuties, PublicChoices, PublicMatch, PublicPair, Seat
from controller.rules.levels import level_text
from controller.rules.seats import SIDES
from controller.rules.standing import level_due

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
    """Return the match of a table as anybody may know it at `now_ms` of the table's clock.

    `profile`, `deal`, `leader`, `turned_up`: of the machine, which deals practice deals as
    long as no match was laid out.
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
        **(_guandan_fields(match) if isinstance(match, GuandanMatch) else {}),
        **(_big_two_fields(match) if isinstance(match, BigTwoMatch) else {}),
    )


def _meeting_fields(match: MatchState) -> dict[str, Any]:
    """Return where the match stands in its event, and its people."""
    meeting, game = match.meeting, "guandan" if isinstance(match, GuandanMatch) else "bigtwo"
    return {
        "event": meeting.event,
        "round": meeting.round,
        "match_no": meeting.match_no,
        "table_no": meeting.table_no,
        "stage": meeting.stage,
        "match": meeting.match_id,
        "profile": match.profile.name,
        "game": game,
        "pairs": {
            side: PublicPair(id=pair.id, name=pair.name, players=pair.players)
            for side, pair in meeting.pairs.items()
        },
        "seated": list(match.seated),
        "started": match.started,
        "suspended": match.suspended,
    }


def _deal_fields(match: MatchState) -> dict[str, Any]:
    """Return the present deal as far as both games have it.

    Who leads by the turned-up card, and that card, come with the release; drawn by
    hand it lies open at once.
    """
    duties = match.duties if match.phase in BEFORE_RELEASE else None
    cuts = duties is not None and match.phase in _CUT_PHASES
    out = match.by_hand or match.phase not in BEFORE_RELEASE
    return {
        "deal": match.deal,
        "by_hand": match.by_hand,
        "hand_duties": _hand_duties(match),
        "cutters": list(duties.cutters) if duties and cuts else [],
        "cut_range": duties.cuts if duties and cuts else None,
        "cutter": match.cutter,
        "leader": (match.leader or match.turned_to) if out else None,
        "turned_up": match.turned_up if out else None,
        "led": match.led,
        "began_ms": match.began_ms,
        "counted": list(match.counted),
        "claimed": match.claimed,
        "claims": list(match.claims),
        "misdeals": match.misdeals,
        "confirmed": list(match.confirmed),
    }


def _hand_duties(match: MatchState) -> HandDuties | None:
    duties = match.duties
    if duties is None or not match.by_hand or match.phase not in BEFORE_RELEASE:
        return None
    return HandDuties(
        shufflers=list(duties.shufflers),
        shuffles=duties.shuffles,
        turnup=duties.turnup,
        first_drawer=match.first_drawer or duties.first_drawer,
    )


def _guandan_fields(match: GuandanMatch) -> dict[str, Any]:
    """Return levels, tribute, places, rulings and score of a match of Guandan."""
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


def _big_two_fields(match: BigTwoMatch) -> dict[str, Any]:
    """Return choices, cards left and totals of a match of Big Two."""
    return {
        "choices": _choices(match),
        "left": match.left or None,
        "totals": match.totals,
    }


def _choices(match: BigTwoMatch) -> PublicChoices | None:
    """Return the choices: all four choose at once on their hands, so that comes out at its end."""
    choices = match.choices
    if choices is None:
        return None
    opened = () if choices.open_hand.seats_asked() else choices.open_hand.seats_agreed()
    doubled = () if choices.doubling is None else choices.doubling.seats_agreed()
    return PublicChoices(asked=asked_choice(match), opened=list(opened), doubled=list(doubled))
