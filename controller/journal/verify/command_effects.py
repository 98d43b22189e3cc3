"""The checks that each command has its effect in the journal, and each effect its command."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from controller.commands.registry import COMMANDS
from controller.faults import fault_catalogue
from controller.journal.attempt_history import AttemptHistory
from controller.journal.entries import JournalEntry
from controller.journal.verify.verify_report import Findings, VerifyFinding
from controller.words import signer_text


def transferred_rows(entries: Sequence[JournalEntry]) -> frozenset[int]:
    """Return the numbers of the `match` entries that came with a match from another table."""
    numbers: set[int] = set()
    left = 0
    for entry in entries:
        if entry.kind == "taken_over":
            said = entry.data.get("events")
            left = said if type(said) is int else 0
        elif entry.kind == "match" and left > 0:
            numbers.add(entry.n)
            left -= 1
    return frozenset(numbers)


# The row of a command comes after the row of its effect, at most this number of rows later.
_MAX_ROWS_BETWEEN = 6
COMMANDS_OF_EVENT: Final[Mapping[str, frozenset[str]]] = {
    "Started": frozenset({"start_match"}),
    "TurnedUp": frozenset({"turned_up"}),
    "ReturnsSwapped": frozenset({"swap_returns"}),
    "OutWithdrawn": frozenset({"withdraw_out"}),
    "PlayCalled": frozenset({"call_clock"}),
    "PlayWarned": frozenset({"warn"}),
    "Signed": frozenset({"sign"}),
    "DealVoided": frozenset({"redeal"}),
    "Recounted": frozenset({"recount"}),
    "Corrected": frozenset({"adjust"}),
    "CorrectionConfirmed": frozenset({"confirm_verbal"}),
    "RulingProposed": frozenset({"propose", "forfeit"}),
    "RulingApproved": frozenset({"approve", "forfeit"}),
    "RulingRejected": frozenset({"reject"}),
    "VerbalConfirmed": frozenset({"confirm_verbal"}),
    "LeaderNamed": frozenset({"name_leader"}),
    "DealtByHand": frozenset({"dealt_by_hand"}),
    "DealStopped": frozenset({"stop_deal"}),
    "ExtraDealOrdered": frozenset({"extra_deal"}),
    "ResultEntered": frozenset({"result"}),
    "CardsLeft": frozenset({"left"}),
    "TimeAdded": frozenset({"add_time"}),
}
"""Events of a match that only a person's command causes, each with its commands."""
_COMMAND_OF_ROW: Final[Mapping[str, str]] = {
    "opened_hand": "open_hand",
    "pause": "hold",
    "pause_ended": "resume",
    "call": "call",
    "call_ended": "attend",
    "set_loaded": "replace_set",
    "set_cleared": "clear_set",
    "acknowledged": "acknowledge",
}
"""Rows of the machine that only a person's command causes, each with its command."""
_ROW_OF_COMMAND: Final = {cmd: kind for kind, cmd in _COMMAND_OF_ROW.items() if cmd != "resume"}
"""Commands that always cause a row of the machine. `resume` is absent: it may end no pause."""
# Events of a match after which a deal may be dealt again, although its hands were released.
_REDEAL_EVENTS = frozenset(
    {"DealVoided", "Recounted", "Corrected", "RulingApproved", "LeaderNamed", "DealtByHand"}
)
# Commands that name the deal and the attempt of the match. The row of the effect has the same ones.
_MATCH_COMMANDS = frozenset(cmd for cmd, order in COMMANDS.items() if order.bound_to == "match")
_CUT_IGNORED_MEANS = "the players' cut did not go into this deal"
_CUT_FORESEEN_MEANS = "the cut of the players was known when the seed was drawn"


def check_command_effects(
    entries: Sequence[JournalEntry],
    commands: Sequence[JournalEntry],
    progresses: Sequence[AttemptHistory],
    *,
    whole: bool,
) -> Findings:
    """Yield a finding for each cut, release or ordered end of an attempt that no command caused.

    A command for the cut must have the same number, and must come at the right time. If `whole` is
    False, only the cuts that have commands are checked.
    """
    acted = [command for command in commands if _was_carried_out(command)]
    last = entries[-1].n if entries else 0
    for progress in progresses:
        own = [one for one in acted if one.attempt == progress.attempt]
        cuts = [one for one in own if _command_name(one) == "cut" or _ends_cut_wait(one)]
        cuts += [one for one in acted if _starts_uncut(one, progress)]
        yield from _check_cut(progress, cuts)
        yield from _check_cut_time(progress, cuts)
        cut = progress.steps.get("cut")
        if whole and cut is not None and cut.n < last:
            yield from _check_cut_ordered(progress, cuts)
        if not whole:
            continue
        verdict, released = progress.steps.get("verdict"), progress.steps.get("released")
        if verdict is not None and released is not None:
            orders = [one for one in own if verdict.n < one.n < released.n]
            if not any(_command_name(one) == "release" for one in orders):
                what = f"the hands of attempt {progress.attempt} were released without a command"
                yield VerifyFinding(released.n, what, "no person ordered the release")
        yield from _check_end_ordered(progress, own, entries)


def check_person_events(
    entries: Sequence[JournalEntry], progresses: Sequence[AttemptHistory]
) -> Findings:
    """Yield a finding for each effect without its command, and each command without its effect."""
    by_number = {entry.n: entry for entry in entries}
    elsewhere = transferred_rows(entries)
    for entry in entries:
        due = _commands_for_row(entry)
        if due and entry.n not in elsewhere and _command_of_row(entry, due, by_number) is None:
            what = f"{entry.data.get('event', entry.kind)} has no command that caused it"
            yield VerifyFinding(entry.n, what, "no person gave this command")
        kind = _ROW_OF_COMMAND.get(str(_command_name(entry))) if _was_carried_out(entry) else None
        area = kind == "pause" and _dict_field(entry, "args").get("area") is True
        if kind is not None and not area and not _has_own_row(entry, kind, by_number):
            what = f"{_command_name(entry)} was carried out, but no row {kind} has its effect"
            yield VerifyFinding(entry.n, what, "the effect of a command was hidden")


def _has_own_row(command: JournalEntry, kind: str, by_number: Mapping[int, JournalEntry]) -> bool:
    """Return whether an entry of the kind `kind` before the command is the command's effect.

    At most `_MAX_ROWS_BETWEEN` entries are searched, back to the last other command.
    """
    for n in range(command.n - 1, command.n - 1 - _MAX_ROWS_BETWEEN, -1):
        row = by_number.get(n)
        if row is None or row.kind == "command":
            return False
        if row.kind == kind:
            return _is_meant_for(command, row)
    return False


def _check_cut(progress: AttemptHistory, commands: Sequence[JournalEntry]) -> Findings:
    """Yield a finding if the cut differs from the number in its command, or has two commands."""
    cut = progress.steps.get("cut")
    for command in commands if cut is not None else ():
        if cut is None or _command_name(command) != "cut":
            continue
        result, args = _dict_field(command, "result"), command.data.get("args")
        ordered = [result.get("cut"), *([args.get("n")] if isinstance(args, dict) else [])]
        for number in ordered:
            if type(number) is not int or number != cut.data.get("cut"):
                what = f"a command cut {number}, and the cut is {cut.data.get('cut')}"
                yield VerifyFinding(cut.n, what, _CUT_IGNORED_MEANS)
                break
    for one, other in pairwise(commands):
        what = f"attempt {progress.attempt} was already cut by the command of entry {one.n}"
        yield VerifyFinding(other.n, what, _CUT_IGNORED_MEANS)


def _check_cut_time(progress: AttemptHistory, commands: Sequence[JournalEntry]) -> Findings:
    """Yield a finding for each cut command that came before the commitment or after the cut."""
    committed, cut = progress.steps.get("committed"), progress.steps.get("cut")
    for command in commands:
        if committed is not None and command.n < committed.n:
            name = _command_name(command)
            what = f"{name} for attempt {progress.attempt} comes before its commitment"
            yield VerifyFinding(command.n, what, _CUT_FORESEEN_MEANS)
        elif cut is not None and command.n > cut.n + 1:
            what = f"{_command_name(command)} for attempt {progress.attempt} comes after its cut"
            yield VerifyFinding(command.n, what, _CUT_IGNORED_MEANS)


def _check_cut_ordered(progress: AttemptHistory, commands: Sequence[JournalEntry]) -> Findings:
    cut = progress.steps["cut"]
    number = cut.data.get("cut")
    if any((_command_name(one) == "cut") is (number is not None) for one in commands):
        return
    if number is not None:
        yield VerifyFinding(cut.n, f"no command cut {number}", "the machine chose the cut")
        return
    what = f"attempt {progress.attempt} was dealt without a cut and without a command for that"
    yield VerifyFinding(cut.n, what, "no person ordered a deal without a cut")


def _ends_cut_wait(command: JournalEntry) -> bool:
    """Return whether a command is a `start_deal` that ended the wait for the cut without a cut."""
    result = _dict_field(command, "result")
    return _command_name(command) == "start_deal" and result.get("cut", 0) is None


def _starts_uncut(command: JournalEntry, progress: AttemptHistory) -> bool:
    """Return whether a command is the `start_deal` that started this attempt without a cut."""
    result, args = _dict_field(command, "result"), command.data.get("args")
    if _command_name(command) != "start_deal" or "uncut" not in result:
        return False
    said = not isinstance(args, dict) or args.get("uncut") is True
    return said and (result.get("deal"), result.get("attempt")) == (progress.deal, progress.attempt)


def _check_end_ordered(
    progress: AttemptHistory, own: Sequence[JournalEntry], entries: Sequence[JournalEntry]
) -> Findings:
    """Yield a finding if the attempt ended by a person's order, but no command for it exists.

    Such an end has the reason ORDERED, or it is the recall of released hands. Other ends are not
    checked.
    """
    steps = progress.steps
    end = steps.get("recalled") or steps.get("withdrawn") or steps.get("verdict")
    verdict, first = steps.get("verdict"), steps.get("released") or steps.get("committed")
    if end is None or first is None:
        return
    reasons = end.data.get("reasons")
    if end.kind != "recalled" and not (isinstance(reasons, list) and "ORDERED" in reasons):
        return
    if end.kind == "recalled":  # The command may come while the lift raises the hands.
        found = _redeal_commands(entries, end, verdict or first)
    else:
        found = [one for one in own if _command_name(one) == "void" and first.n < one.n < end.n]
    if not found:
        what = f"{end.kind} of attempt {progress.attempt} without a command"
        yield VerifyFinding(end.n, what, "no person ordered a redeal")


def _redeal_commands(
    entries: Sequence[JournalEntry], end: JournalEntry, first: JournalEntry
) -> list[JournalEntry]:
    """Return the commands that ordered a redeal and so caused the entry `end`, a recall of hands.

    Only match rows between the entries `first` and `end` count, with their commands.
    """
    between = [entry for entry in entries if first.n < entry.n <= end.n + _MAX_ROWS_BETWEEN]
    by_number = {entry.n: entry for entry in between}
    said = [
        entry
        for entry in between
        if entry.n < end.n
        and entry.kind == "match"
        and entry.data.get("event") in _REDEAL_EVENTS
        and end.deal is not None
        and entry.deal in (end.deal, end.deal + 1)
    ]
    found = (_command_of_row(entry, _commands_for_row(entry), by_number) for entry in said)
    return [order for order in found if order is not None]


def _commands_for_row(entry: JournalEntry) -> frozenset[str]:
    """Return the names of the commands that can cause `entry`. Empty: it needs no command."""
    if entry.kind in _COMMAND_OF_ROW:
        # A green button of the table withdraws a call without a command.
        by_itself = entry.kind == "call_ended" and "by" not in entry.data
        return frozenset() if by_itself else frozenset({_COMMAND_OF_ROW[entry.kind]})
    event = entry.data.get("event") if entry.kind == "match" else None
    return COMMANDS_OF_EVENT.get(event, frozenset()) if isinstance(event, str) else frozenset()


def _command_of_row(
    entry: JournalEntry, due: frozenset[str], by_number: Mapping[int, JournalEntry]
) -> JournalEntry | None:
    """Return the command that caused `entry`, or None if no command soon after it is the cause.

    `due` has the names of the commands that can cause `entry`. A command after the next row of the
    same event belongs to that row. One command may end the pauses of several people or the calls of
    several seats.
    """
    event = entry.data.get("event")
    for n in range(entry.n + 1, entry.n + 1 + _MAX_ROWS_BETWEEN):
        order = by_number.get(n)
        if order is None:
            continue
        same = order.kind == entry.kind and order.data.get("event") == event
        if same and order.kind not in ("pause_ended", "call_ended"):
            return None
        if order.kind == "command":
            return order if _command_name(order) in due and _is_meant_for(order, entry) else None
    return None


def _is_meant_for(command: JournalEntry, entry: JournalEntry) -> bool:
    """Return whether `command` was carried out and the row `entry` can be its effect."""
    of: Any = command.data.get("of")
    bound = _command_name(command) in _MATCH_COMMANDS and of is not None
    if not _was_carried_out(command) or (bound and [*of] != [entry.deal, entry.attempt]):
        return False
    return entry.kind not in _COMMAND_OF_ROW or _matches_command(command, entry)


def _matches_command(command: JournalEntry, row: JournalEntry) -> bool:
    """Return whether the person, the deal and the values in `row` are those in `command`."""
    args, code = _dict_field(command, "args"), str(_dict_field(command, "args").get("code"))
    who = {"by": signer_text(str(command.data.get("who")), command.data.get("person"))}
    said = {name: value for name, value in args.items() if name in ("seat", "set", "board")}
    more: dict[str, dict[str, Any]] = {
        "opened_hand": {"key": command.data.get("key"), "reason": args.get("reason")},
        "pause": {"reason": command.data.get("role"), "why": args.get("reason")},
        "call": {"reason": args.get("reason") or "button"},
        "acknowledged": {"name": code if code in fault_catalogue() else code.lower()},
    }
    due = said | more.get(row.kind, {}) | (who if row.kind != "call" else {})
    deal = command.deal if row.kind in ("call", "call_ended") else None
    if row.kind != "opened_hand" and (row.deal, row.attempt) != (deal, None):
        return False
    return all(value is None or row.data.get(name) == value for name, value in due.items())


def _was_carried_out(command: JournalEntry) -> bool:
    """Return whether the command was carried out. Then its row has a result and no refusal."""
    return "result" in command.data and "refused" not in command.data


def _command_name(command: JournalEntry) -> Any:
    return command.data.get("cmd")


def _dict_field(command: JournalEntry, field: str) -> dict[str, Any]:
    value = command.data.get(field)
    return value if isinstance(value, dict) else {}
