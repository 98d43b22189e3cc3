"""Replays every match of a journal: the match accepts each event, and a signed order caused it.

The owner of a table can rewrite its journal and compute the chain again, but cannot sign an order.
So each row that only an order causes is compared with the events that the order's own arguments
give at that point of the match.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from controller.commands import BadArgs, parse_args
from controller.framing import canonical_json
from controller.journal.entries import Entry
from controller.journal.fold import Progress
from controller.journal.verify.findings import Finding
from controller.journal.verify.rulebooks import Rulebooks
from controller.machine.order.match_desk import meeting_data
from controller.machine.order.match_orders import EVENTS, events_of, meeting_of
from controller.machine.order.who import CommandSigner
from controller.machine.play import Play, fold, is_match_over, tried
from controller.machine.play.moving import on_its_way
from controller.match.effects import Refused
from controller.match.events import HandsRecounted, MatchEvent, TableSuspended, event_of
from controller.match.refusals import RefusedError
from controller.match_arguments import SetMatchArgs
from controller.messages import Role
from controller.rules.profile import Profile

_MATCH_KINDS: Final = frozenset({"match", "match_kept"})
_MADE_UP_MATCH_MEANS: Final = "the score sheet says what nobody decided"
_EVENTS_WITHOUT_COMMAND: Final = frozenset(
    {"Ticked", "AntiAnswered", "TributeValued", "ReleaseOrdered", "Misdealt"}
)
"""Events that the clock, the machine or the vault cause without an order."""
_ENDING_KINDS: Final = frozenset({"pause_ended", "call_ended"})
_MAX_ROWS_BEFORE_TRANSFER: Final = 6
"""A match stands still at most so many rows before it leaves."""


class _MatchRow(NamedTuple):
    """A row of the match, its event, and the match before it."""

    entry: Entry
    event: MatchEvent
    before: Play


class _CommandContext(NamedTuple):
    """What is known where the row of an order stands.

    `holding`: the roles that hold the table. `called`: the seats that have called a referee so far.
    `ended`: the rows directly before the order that end pauses and calls.
    """

    play: Play
    holding: frozenset[str]
    called: frozenset[str]
    ended: tuple[Entry, ...]

    def behind(self, entry: Entry) -> "_CommandContext":
        """Return what is known behind a row."""
        seat, reason = (frozenset({str(entry.data.get(name))}) for name in ("seat", "reason"))
        holding = self.holding | reason if entry.kind == "pause" else self.holding
        return _CommandContext(
            self.play,
            holding - reason if entry.kind == "pause_ended" else holding,
            self.called | seat if entry.kind == "call" else self.called,
            (*self.ended, entry) if entry.kind in _ENDING_KINDS else (),
        )


def check_matches(
    entries: Sequence[Entry], progresses: Sequence[Progress], rulebooks: Rulebooks
) -> Iterator[Finding]:
    """Yield the rows of a whole journal's matches that do not follow from the orders beside them.

    A match under an unknown rulebook is not checked, nor are rows that came from another table.
    """
    play, profile = Play(), None
    moment = _CommandContext(play, frozenset(), frozenset(), ())
    waiting: list[_MatchRow] = []
    played = dict(_played_attempts(progresses))
    at_ms = 0
    for entry, behind in zip(entries, (*entries[1:], None), strict=True):
        if entry.kind == "meeting":
            profile = rulebooks.find(bytes.fromhex(entry.data["profile_hash"]))
            if profile is not None and play.coming is None:
                yield from _check_meeting(entry, behind, profile)
        elif (
            behind is not None and behind.data.get("cmd") == "set_match" and "result" in behind.data
        ):
            yield Finding(behind.n, "the match that was ordered is not there", _MADE_UP_MATCH_MEANS)
        if entry.kind == "taken_over":
            play = Play(coming=on_its_way(entry.data))
        here, moment = moment._replace(play=play), moment.behind(entry)
        if profile is None:
            continue
        if entry.kind in _MATCH_KINDS and play.coming is None:
            if play.match is None:
                yield Finding(entry.n, "this row is of no match", _MADE_UP_MATCH_MEANS)
                continue
            row = _MatchRow(entry, event_of(entry.data), play)
            yield from _refused(row)
            yield from _check_place(row, at_ms)
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
                yield Finding(entry.n, what, "hands were shown too early")
        play = fold(play, entry, profile)
    yield from _check_unordered(waiting, entries)


def _played_attempts(progresses: Sequence[Progress]) -> Iterator[tuple[int | None, str]]:
    """Yield the attempts whose hands were played, each with its match."""
    for progress in progresses:
        steps = progress.steps
        if {"committed", "released"} <= steps.keys() and "recalled" not in steps:
            yield progress.attempt, str(steps["committed"].data.get("match"))


def _check_meeting(meeting: Entry, behind: Entry | None, profile: Profile) -> Iterator[Finding]:
    """Yield a match that is not the one that was ordered."""
    order = {} if behind is None or behind.kind != "command" else behind.data
    if order.get("cmd") != "set_match":
        yield Finding(meeting.n, "nobody ordered this match", _MADE_UP_MATCH_MEANS)
        return
    try:
        due = meeting_data(profile, *meeting_of(msgspec.convert(order["args"], SetMatchArgs)))
    except (BadArgs, KeyError, ValueError):
        due = {}
    said = {name: value for name, value in meeting.data.items() if name != "at_ms"}
    if canonical_json(said) != canonical_json(due):
        yield Finding(meeting.n, "this match is not the one that was ordered", _MADE_UP_MATCH_MEANS)


def _refused(row: _MatchRow) -> Iterator[Finding]:
    """Yield an event that its match refuses."""
    _, effects = tried(row.before, row.event)
    for effect in effects:
        if isinstance(effect, Refused):
            what = f"the match refuses {type(row.event).__name__}: {effect.refusal.code}"
            yield Finding(row.entry.n, what, "this row was changed, or one before it is gone")


def _check_place(row: _MatchRow, at_ms: int) -> Iterator[Finding]:
    """Yield a row with a wrong deal or attempt, or earlier than `at_ms`, the row before it."""
    match, entry = row.before.match, row.entry
    assert match is not None  # it is a row of one
    if (entry.deal, entry.attempt) != (match.deal or None, row.before.attempt):
        what = f"a row of deal {match.deal} stands under deal {entry.deal}"
        yield Finding(entry.n, what, "it was moved, or changed")
    if row.event.at_ms < at_ms:
        what = f"{row.event.at_ms} ms is earlier than the row before it ({at_ms} ms)"
        yield Finding(entry.n, what, "its time was changed")


def _check_waiting_times(released: Entry, play: Play) -> Iterator[Finding]:
    """Yield a release whose waiting times are not those that the match computes."""
    match, waited = play.match, play.waited
    if match is None or match.deal != released.deal or waited is None:
        return
    due = msgspec.to_builtins(waited)
    if {name: released.data.get(name) for name in due} != due:
        yield Finding(released.n, "its players waited otherwise", "the times were changed")


def _check_command(
    command: Entry, waiting: Sequence[_MatchRow], here: _CommandContext, entries: Sequence[Entry]
) -> Iterator[Finding]:
    """Yield an order that the rows before it do not show, and rows that no order caused."""
    data = command.data
    made: range = range(0)
    if "result" in data and "refused" not in data and data.get("cmd") in EVENTS:
        said = _command_data(command, entries)
        made = _caused_rows(said, waiting)
        if not made and not _needs_no_row(said, here):
            what = f"{data['cmd']} ordered something else than the rows before it say"
            yield Finding(command.n, what, _MADE_UP_MATCH_MEANS)
        phase, match = data["result"].get("phase"), here.play.match
        if phase is not None and match is not None and phase != match.phase:
            what = f"{data['cmd']} was answered with the phase {phase}, and it is another"
            yield Finding(command.n, what, "the answer was changed")
    yield from _check_unordered(waiting, entries, made)


def _command_data(command: Entry, entries: Sequence[Entry]) -> dict[str, Any]:
    """Return the data of a command with its arguments, also if they are in the row before it."""
    before = entries[command.n - 2] if command.n > 1 else None
    kept = before.data if before is not None and before.kind == "command_kept" else {}
    return {**command.data, **kept}


def _needs_no_row(said: dict[str, Any], here: _CommandContext) -> bool:
    """Tell whether the machine carries an order out at this point without a row of the match."""
    rule = _ROWLESS_COMMANDS.get(said["cmd"])
    return rule is not None and rule(said, here)


def _withdraws_call(said: dict[str, Any], here: _CommandContext) -> bool:
    """Tell whether a green button took back the call of its seat, and meant nothing else."""
    seat = _arguments_of(said).get("seat")
    ended = any(row.kind == "call_ended" and row.data == {"seat": seat} for row in here.ended)
    by_player = said.get("role") == Role.TABLE
    return by_player and ended and seat in here.called and not said["result"]


def _is_already_suspended(said: dict[str, Any], here: _CommandContext) -> bool:
    """Tell whether the match stood still when somebody stopped the table, or is signed."""
    match = here.play.match
    if match is None or _arguments_of(said).get("area"):
        return match is None
    _, effects = tried(here.play, TableSuspended(at_ms=match.now_ms, reason=""))
    return any(isinstance(effect, Refused) for effect in effects)


def _stands_on(said: dict[str, Any], here: _CommandContext) -> bool:
    """Tell whether the match stands on, or never stood, when somebody lets the table go on.

    The pause of another person lasts; so does a claimed count, which its recount ends.
    """
    match = here.play.match
    if _arguments_of(said).get("area"):
        return False
    if match is None or match.suspended is None:
        return True
    ended = any(row.kind == "pause_ended" for row in here.ended)
    return bool(here.holding) or (match.claimed is not None and ended)


def _is_only_answered(said: dict[str, Any], here: _CommandContext) -> bool:
    """Tell whether a card was compared with hands that the machine knows: that changes nothing."""
    match = here.play.match
    answered = "right" in said["result"] or "state" in said["result"]
    return answered and match is not None and not match.by_hand


_ROWLESS_COMMANDS: Final[Mapping[str, Callable[[dict[str, Any], _CommandContext], bool]]] = {
    "confirm": _withdraws_call,
    "hold": _is_already_suspended,
    "resume": _stands_on,
    "tribute": _is_only_answered,
    "return": _is_only_answered,
}
"""When an order about the match is carried out without a row of the match; others never are."""


def _arguments_of(said: dict[str, Any]) -> dict[str, Any]:
    args = said.get("args")
    return args if isinstance(args, dict) else {}


def _caused_rows(said: dict[str, Any], waiting: Sequence[_MatchRow]) -> range:
    """Return the positions in `waiting` of the events that an order causes; may be empty."""
    try:
        args = parse_args(said["cmd"], said["args"])
        who = CommandSigner(said["who"], Role(said["role"]), said.get("person"))
    except (BadArgs, KeyError, ValueError):
        return range(0)
    for first, row in enumerate(waiting):
        assert row.before.match is not None  # only rows of a match wait
        try:
            meant = events_of(said["cmd"], args, who, row.before.match, row.event.at_ms)
        except RefusedError:
            continue
        if tuple(each.event for each in waiting[first : first + len(meant)]) == meant:
            return range(first, first + len(meant))
    return range(0)


def _check_unordered(
    waiting: Sequence[_MatchRow], entries: Sequence[Entry], made: range = range(0)
) -> Iterator[Finding]:
    """Yield rows that only an order causes, but for those that one `made`."""
    recounted = False
    for at, row in enumerate(waiting):
        name = type(row.event).__name__
        if isinstance(row.event, TableSuspended):
            stands = recounted or _leaves_table(row.entry, entries)
        else:
            stands = name in _EVENTS_WITHOUT_COMMAND
        recounted = recounted or isinstance(row.event, HandsRecounted)
        if at not in made and not stands:
            yield Finding(row.entry.n, f"nobody ordered {name}", _MADE_UP_MATCH_MEANS)


def _leaves_table(entry: Entry, entries: Sequence[Entry]) -> bool:
    """Tell whether a match that is stopped here leaves for another table at once."""
    return any(
        row.kind == "transferred" for row in entries[entry.n : entry.n + _MAX_ROWS_BEFORE_TRANSFER]
    )
