"""The preview of a decision: the present match, and the match as it would be afterwards.

Nothing is decided or written. The reducer computes the result, which is then discarded. So a person
can see the effect of a correction on the levels before making it.
"""

from typing import Any

import msgspec

from controller.commands.argument_values import Args
from controller.commands.registry import BadArgs, parse_args
from controller.commands.ruling_arguments import ForeseeArgs
from controller.machine.commands.command_events import events_of_command
from controller.machine.commands.command_request import (
    CommandRefused,
    CommandSigner,
    failure,
    failure_of,
)
from controller.machine.public.next_step import next_words
from controller.machine.public.public_results import copied_fields, numbers_by_side, public_verdict
from controller.machine.state.table_match import TableMatch, apply_event, dry_run
from controller.match.clocks import match_clock
from controller.match.match_effects import EventRefused
from controller.match.match_events import RulingApproved, RulingProposed
from controller.match.match_state import AnyMatch, GuandanMatch
from controller.match.phase import PHASE_WORDS
from controller.match.refusals import RefusedError
from controller.match.sheet_rows import DealRow, StoppedRow, effective_rows
from controller.messages import PublicVerdict, Role, Side
from controller.rules.match_standing import level_due
from controller.rules.ranks import level_text
from controller.seats import SIDES
from controller.words import Words

_ANY_SIGNER = CommandSigner("foresight", Role.CHIEF)
"""The effect does not depend on the signer. The role is checked when the command is given."""


class MatchOutlook(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a match that a decision of a referee can change. Levels are texts."""

    levels: dict[Side, str]
    failures: dict[Side, int]
    points: dict[Side, int]
    level: str
    owner: Side | None
    deal: int
    phase: str
    phase_en: str
    phase_zh: str
    next_en: str
    next_zh: str
    verdict: PublicVerdict | None


class DecisionPreview(msgspec.Struct, frozen=True, kw_only=True):
    """The match as it is, and as it would be after a decision of a referee.

    `void` are the deals that would no longer count. `stopped` is the present deal, if it would end
    without counting.
    """

    now: MatchOutlook
    then: MatchOutlook
    void: tuple[int, ...] = ()
    stopped: int | None = None


class StopTime(msgspec.Struct, frozen=True, kw_only=True):
    """One interruption of the match, with the playing time that it cost.

    `seconds` is this time, and `lasts` is True while the interruption continues.
    """

    reason: str
    seconds: int
    lasts: bool


class LostTime(msgspec.Struct, frozen=True, kw_only=True):
    """The added time (补时) that a referee may still give for interruptions at this table.

    `needs` is the role that must decide on this amount. With 0 seconds, no time can be added.
    """

    seconds: int
    needs: str
    stops: tuple[StopTime, ...] = ()


def preview_decision(play: TableMatch, said: ForeseeArgs, at_ms: int) -> dict[str, Any]:
    """Return the DecisionPreview of the decision `said` as a dict. Raises CommandRefused."""
    args, match = _parse_decision(said), play.match
    if not isinstance(match, GuandanMatch):
        raise CommandRefused(failure("NO_MATCH"))
    after = _match_after(play, match, said.cmd, args, at_ms).match
    assert isinstance(after, GuandanMatch)  # The game of a match never changes.
    stopped = (r.deal for r in after.sheet[len(match.sheet) :] if isinstance(r, StoppedRow))
    found = DecisionPreview(
        now=_outlook(match),
        then=_outlook(after),
        void=tuple(sorted(_counting_deals(match) - _counting_deals(after))),
        stopped=next(stopped, None),
    )
    return dict(msgspec.to_builtins(found))


def lost_time(match: AnyMatch | None, at_ms: int) -> dict[str, Any]:
    """Return the LostTime of a match as a dict: the added time that a referee may still give.

    Raises CommandRefused.
    """
    if match is None:
        raise CommandRefused(failure("NO_MATCH"))
    due = match_clock.added_time_due(match.clock, at_ms)
    if due is None:
        return dict(msgspec.to_builtins(LostTime(seconds=0, needs="referee")))
    stops = tuple(
        StopTime(
            reason=stop.reason,
            seconds=_seconds(match_clock.cost_ms(match.clock, stop, at_ms)),
            lasts=stop.to_ms is None,
        )
        for stop in due.stops
    )
    found = LostTime(seconds=_seconds(due.add_ms), needs=due.needs, stops=stops)
    return dict(msgspec.to_builtins(found))


def _parse_decision(args: ForeseeArgs) -> Args:
    """Convert the arguments of the previewed command into their class. Raises CommandRefused."""
    try:
        return parse_args(args.cmd, args.args)
    except BadArgs as bad:
        found = Words(f"args: {bad.found.en}", f"args: {bad.found.zh}")
        refused = failure("BAD_COMMAND", found=found, expected=bad.expected)
        raise CommandRefused(refused) from None


def _match_after(play: TableMatch, match: AnyMatch, cmd: str, args: Args, at_ms: int) -> TableMatch:
    """Return the match as it would be after the command `cmd`. Raises CommandRefused."""
    try:
        wanted = events_of_command(cmd, args, _ANY_SIGNER, match, at_ms)
    except RefusedError as error:
        raise CommandRefused(failure_of(error.refusal)) from None
    if len(wanted) == 1 and isinstance(wanted[0], RulingProposed):
        said = wanted[0]  # A proposal alone changes nothing, so it is put into force.
        decision = RulingApproved(at_ms=said.at_ms, id=said.id, by=said.by, role=Role.CHIEF)
        wanted = (said, decision)
    for event in wanted:
        _, effects = dry_run(play, event)
        for effect in effects:
            if isinstance(effect, EventRefused):
                raise CommandRefused(failure_of(effect.refusal))
        play = apply_event(play, event)
    return play


def _outlook(match: GuandanMatch) -> MatchOutlook:
    standing, words, soon = match.standing, PHASE_WORDS[match.phase], next_words(match)
    level = match.level if match.deal else level_due(match.profile, standing)
    return MatchOutlook(
        levels={side: level_text(standing.levels.of(side)) for side in SIDES},
        failures=numbers_by_side(standing.failures) or {},
        points=numbers_by_side(standing.points) or {},
        level=level_text(level),
        **copied_fields(match, "owner", "deal"),
        phase=match.phase.value,
        phase_en=words.en,
        phase_zh=words.zh,
        next_en=soon.en,
        next_zh=soon.zh,
        verdict=None if match.verdict is None else public_verdict(match.verdict),
    )


def _counting_deals(match: GuandanMatch) -> set[int]:
    return {row.deal for row in effective_rows(match.sheet) if isinstance(row, DealRow)}


def _seconds(ms: int) -> int:
    return -(-ms // 1000)
