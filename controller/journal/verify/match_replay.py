"""The check of the matches of a journal: all events of each match are applied again, in order.

The match must accept each event, and a signed command must have caused it. The owner of a table can
rewrite its journal and compute the chain again, but cannot sign a command. So each row that only a
command causes is compared with the events that follow from the arguments of the command at that
point of the match.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from controller.commands.match_arguments import SetMatchArgs
from controller.commands.registry import BadArgs, parse_args
from controller.journal.attempt_history import AttemptHistory
from controller.journal.entries import JournalEntry
from controller.journal.verify.verify_report import Findings, VerifyFinding
from controller.machine.commands.command_events import EVENT_MAKERS, events_of_command, meeting_of
from controller.machine.commands.command_request import CommandSigner
from controller.machine.commands.match_commands import meeting_data
from controller.machine.state.due_deals import is_match_over
from controller.machine.state.table_match import TableMatch, arriving_match, dry_run, fold_match
from controller.match import match_events as events
from controller.match.match_effects import EventRefused
from controller.match.refusals import RefusedError
from controller.messages import Role
from controller.rules.profile import Profile
from controller.rules.profile_files import ProfilesByHash
from controller.signing import canonical_json

_MADE_UP_MATCH_MEANS: Final = "the score sheet has data that no person decided"
_EVENTS_WITHOUT_COMMAND: Final = frozenset(
    {"Ticked", "AntiAnswered", "TributeValued", "ReleaseOrdered", "Misdealt"}
)
"""Events that the clock, the machine or the vault cause without a command."""
_MAX_ROWS_BEFORE_TRANSFER: Final = 6
"""A match that leaves the table is suspended at most this number of rows earlier."""


class _MatchRow(NamedTuple):
    """A row with an event of the match: the entry, the event, and the match before the event."""

    entry: JournalEntry
    event: events.MatchEvent
    before: TableMatch


class _CommandContext(NamedTuple):
    """The state of the table before a command: its match, pauses and calls for a referee.

    `pausing_roles`: the roles that have paused the table. `calling_seats`: the seats that have
    called a referee so far. `ending_rows`: the rows directly before the command that end pauses and
    calls.
    """

    play: TableMatch
    pausing_roles: frozenset[str]
    calling_seats: frozenset[str]
    ending_rows: tuple[JournalEntry, ...]

    def after_row(self, entry: JournalEntry) -> "_CommandContext":
        """Return the state after the row `entry`, which may begin or end a pause or a call."""
        seat, reason = (frozenset({str(entry.data.get(name))}) for name in ("seat", "reason"))
        holding = self.pausing_roles | reason if entry.kind == "pause" else self.pausing_roles
        return _CommandContext(
            self.play,
            holding - reason if entry.kind == "pause_ended" else holding,
            self.calling_seats | seat if entry.kind == "call" else self.calling_seats,
            (*self.ending_rows, entry) if entry.kind in ("pause_ended", "call_ended") else (),
        )


def check_matches(
    entries: Sequence[JournalEntry], progresses: Sequence[AttemptHistory], rulebooks: ProfilesByHash
) -> Findings:
    """Yield a finding for each match event that the match refuses, or that lacks its command.

    Commands without their events are findings too. Matches under an unknown rulebook, and rows from
    another table, are not checked.
    """
    play, profile = TableMatch(), None
    moment = _CommandContext(play, frozenset(), frozenset(), ())
    waiting: list[_MatchRow] = []
    played: dict[int | None, str] = {
        one.attempt: str(one.steps["committed"].data.get("match"))
        for one in progresses
        if {"committed", "released"} <= one.steps.keys() and "recalled" not in one.steps
    }
    at_ms = 0
    for entry, behind in zip(entries, (*entries[1:], None), strict=True):
        if entry.kind == "meeting":
            profile = rulebooks.find(bytes.fromhex(entry.data["profile_hash"]))
            if profile is not None and play.arriving is None:
                yield from _check_meeting(entry, behind, profile)
        elif behind and behind.data.get("cmd") == "set_match" and "result" in behind.data:
            what = "the match that was ordered is not there"
            yield VerifyFinding(behind.n, what, _MADE_UP_MATCH_MEANS)
        if entry.kind == "taken_over":
            play = TableMatch(arriving=arriving_match(entry.data))
        here, moment = moment._replace(play=play), moment.after_row(entry)
        if profile is None:
            continue
        if entry.kind in ("match", "match_kept") and play.arriving is None:
            if play.match is None:
                yield VerifyFinding(entry.n, "this row belongs to no match", _MADE_UP_MATCH_MEANS)
                continue
            row = _MatchRow(entry, events.decode_match_event(entry.data), play)
            yield from _check_row(row, at_ms)
            at_ms = row.event.at_ms
            waiting.append(row)
        elif entry.kind == "command":
            yield from _check_command(entry, waiting, here, entries)
            waiting = []
        elif entry.kind == "released":
            yield from _check_waiting_times(entry, play)
        elif entry.kind == "record" and profile.hands_opened == "match_end":
            match = played.get(entry.attempt)
            if match is not None and not is_match_over(play, match):
                what = f"the match of attempt {entry.attempt} was not over"
                yield VerifyFinding(entry.n, what, "hands were shown too early")
        play = fold_match(play, entry, profile)
    yield from _check_unordered(waiting, entries)


def _check_meeting(
    meeting: JournalEntry, next_entry: JournalEntry | None, profile: Profile
) -> Findings:
    """Yield a finding if `next_entry` is not the command `set_match` that ordered `meeting`."""
    order = {} if next_entry is None or next_entry.kind != "command" else next_entry.data
    if order.get("cmd") != "set_match":
        yield VerifyFinding(meeting.n, "no command ordered this match", _MADE_UP_MATCH_MEANS)
        return
    try:
        due = meeting_data(profile, *meeting_of(msgspec.convert(order["args"], SetMatchArgs)))
    except (BadArgs, KeyError, ValueError):
        due = {}
    said = {name: value for name, value in meeting.data.items() if name != "at_ms"}
    if canonical_json(said) != canonical_json(due):
        what = "this match is not the one that was ordered"
        yield VerifyFinding(meeting.n, what, _MADE_UP_MATCH_MEANS)


def _check_row(row: _MatchRow, at_ms: int) -> Findings:
    """Yield a finding if the match refuses the event of this row.

    Also yield one if the row has a wrong deal or attempt, or a time before `at_ms`.
    """
    for effect in dry_run(row.before, row.event)[1]:
        if isinstance(effect, EventRefused):
            what = f"the match refuses {row.event.__struct_config__.tag}: {effect.refusal.code}"
            yield VerifyFinding(row.entry.n, what, "this row was changed, or one before it is gone")
    match, entry = row.before.match, row.entry
    assert match is not None  # It is a row of a match.
    if (entry.deal, entry.attempt) != (match.deal or None, row.before.attempt):
        what = f"a row of deal {match.deal} has the number of deal {entry.deal}"
        yield VerifyFinding(entry.n, what, "it was moved, or changed")
    if row.event.at_ms < at_ms:
        what = f"{row.event.at_ms} ms is earlier than the row before it ({at_ms} ms)"
        yield VerifyFinding(entry.n, what, "its time was changed")


def _check_waiting_times(released: JournalEntry, play: TableMatch) -> Findings:
    """Yield a finding if the waiting times in `released` are not those of the match `play`."""
    match, waited = play.match, play.waiting_times
    if match is None or match.deal != released.deal or waited is None:
        return
    due = msgspec.to_builtins(waited)
    if {name: released.data.get(name) for name in due} != due:
        what = "its waiting times are not those of the match"
        yield VerifyFinding(released.n, what, "the times were changed")


def _check_command(
    command: JournalEntry,
    waiting: Sequence[_MatchRow],
    context: _CommandContext,
    entries: Sequence[JournalEntry],
) -> Findings:
    """Yield a finding if a command was carried out, but `waiting` lacks a row that it must cause.

    Also yield one if the command's answer has a wrong phase, and one for each row in `waiting` that
    needs a command and has none. `waiting` has the rows of the match since the last command.
    """
    data = command.data
    made: range = range(0)
    if "result" in data and "refused" not in data and data.get("cmd") in EVENT_MAKERS:
        # The row before may contain the arguments.
        before = entries[command.n - 2] if command.n > 1 else None
        kept = before.data if before is not None and before.kind == "command_kept" else {}
        said = {**command.data, **kept}
        made = _caused_rows(said, waiting)
        is_rowless = _ROWLESS_COMMANDS.get(said["cmd"])
        if not made and not (is_rowless and is_rowless(said, context)):
            what = f"{data['cmd']} ordered something else than the rows before it show"
            yield VerifyFinding(command.n, what, _MADE_UP_MATCH_MEANS)
        phase, match = data["result"].get("phase"), context.play.match
        if phase is not None and match is not None and phase != match.phase:
            what = f"{data['cmd']} was answered with the phase {phase}, but the match is in another"
            yield VerifyFinding(command.n, what, "the answer was changed")
    yield from _check_unordered(waiting, entries, made)


def _withdraws_call(said: dict[str, Any], context: _CommandContext) -> bool:
    """Return whether a `confirm` only cancelled a player's call, and so needs no match event."""
    seat = _arguments_of(said).get("seat")
    rows = (row for row in context.ending_rows if row.kind == "call_ended")
    ended = any(row.data == {"seat": seat} for row in rows)
    by_player = said.get("role") == Role.TABLE
    return by_player and ended and seat in context.calling_seats and not said["result"]


def _has_nothing_to_suspend(said: dict[str, Any], context: _CommandContext) -> bool:
    """Return whether a `hold` could not suspend a match, and so needs no match event."""
    match = context.play.match
    if match is None or _arguments_of(said).get("area"):
        return match is None
    _, effects = dry_run(context.play, events.TableSuspended(at_ms=match.now_ms, reason=""))
    return any(isinstance(effect, EventRefused) for effect in effects)


def _stays_suspended(said: dict[str, Any], context: _CommandContext) -> bool:
    """Return whether a `resume` could not continue a match, and so needs no match event.

    There is no suspended match, or a pause continues: that of another role, or that for a claimed
    count, which ends with the recount.
    """
    match = context.play.match
    if _arguments_of(said).get("area"):
        return False
    if match is None or match.suspended is None:
        return True
    ended = any(row.kind == "pause_ended" for row in context.ending_rows)
    return bool(context.pausing_roles) or (match.claimed is not None and ended)


def _is_only_answered(said: dict[str, Any], context: _CommandContext) -> bool:
    """Return whether a `tribute` or `return` only checked a card, and so needs no match event."""
    match = context.play.match
    answered = "right" in said["result"] or "state" in said["result"]
    return answered and match is not None and not match.by_hand


_ROWLESS_COMMANDS: Final[Mapping[str, Callable[[dict[str, Any], _CommandContext], bool]]] = {
    "confirm": _withdraws_call,
    "hold": _has_nothing_to_suspend,
    "resume": _stays_suspended,
    "tribute": _is_only_answered,
    "return": _is_only_answered,
}
"""The condition under which a command about the match causes no row of the match.

Other commands always have a row.
"""


def _arguments_of(said: dict[str, Any]) -> dict[str, Any]:
    args = said.get("args")
    return args if isinstance(args, dict) else {}


def _caused_rows(said: dict[str, Any], waiting: Sequence[_MatchRow]) -> range:
    """Return the positions in `waiting` of the rows that a command caused, or an empty range."""
    try:
        args = parse_args(said["cmd"], said["args"])
        who = CommandSigner(said["who"], Role(said["role"]), said.get("person"))
    except (BadArgs, KeyError, ValueError):
        return range(0)
    for first, row in enumerate(waiting):
        assert row.before.match is not None  # Only rows of a match wait.
        try:
            meant = events_of_command(said["cmd"], args, who, row.before.match, row.event.at_ms)
        except RefusedError:
            continue
        if tuple(each.event for each in waiting[first : first + len(meant)]) == meant:
            return range(first, first + len(meant))
    return range(0)


def _check_unordered(
    waiting: Sequence[_MatchRow], entries: Sequence[JournalEntry], made: range = range(0)
) -> Findings:
    """Yield a finding for each row in `waiting` that needs a command but was caused by none.

    `made` has the positions of the rows that a command caused.
    """
    recounted = False
    for at, row in enumerate(waiting):
        name = row.event.__struct_config__.tag
        if isinstance(row.event, events.TableSuspended):
            # The match may leave for another table directly after this row.
            later = entries[row.entry.n : row.entry.n + _MAX_ROWS_BEFORE_TRANSFER]
            stands = recounted or any(one.kind == "transferred" for one in later)
        else:
            stands = name in _EVENTS_WITHOUT_COMMAND
        recounted = recounted or isinstance(row.event, events.HandsRecounted)
        if at not in made and not stands:
            yield VerifyFinding(row.entry.n, f"no command ordered {name}", _MADE_UP_MATCH_MEANS)
