"""What people ordered, against what the machine says that it did.

A command's row stands beside what came of it, with the words and the signature of whoever gave
it: a cut that is not the one that was ordered, a deal without a cut that nobody asked for, a
redeal that no person's word is there for, a word that was forged or used twice.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from controller.journal.entries import Entry
from controller.journal.fold import Progress
from controller.journal.verify.findings import Finding
from controller.messages import Command
from controller.signing import BadSignature, check

# The row of an order to stop stands beside what it does, at most so many rows behind it.
_CLOSE = 6
# What of a match may have a deal dealt again behind its release.
_AGAIN = frozenset(
    {"DealVoided", "Recounted", "Corrected", "RulingApproved", "LeaderNamed", "DealtByHand"}
)
_NOT_IN_IT = "the players' cut did not go into this deal"


def check_orders(
    entries: Sequence[Entry], progresses: Sequence[Progress], *, whole: bool
) -> Iterator[Finding]:
    """Yield steps that are not what was ordered; where not `whole`, an order may be missing."""
    commands = [entry for entry in entries if entry.kind == "command"]
    yield from _signed(entries, commands)
    for progress in progresses:
        own = [entry for entry in commands if entry.attempt == progress.attempt]
        yield from _cut(progress, own)
        if whole and _went_on(progress):
            yield from _nobody_ordered(progress, own, commands)
        if whole:
            yield from _by_itself(progress, entries)


def _signed(entries: Sequence[Entry], commands: Sequence[Entry]) -> Iterator[Finding]:
    """Yield orders whose signature is not theirs, that have none, or that acted twice."""
    keys = (entry.data.get("table_key") for entry in entries if entry.kind in _NAMES_TABLE)
    table_key = next((key for key in keys if isinstance(key, str)), None)
    signs = {command.data.get("cmd") for command in commands if command.data.get("sig")}
    acted: dict[tuple[object, object], int] = {}
    for command in commands:
        data = command.data
        if "result" in data and data.get("key") != _PANEL:
            first = acted.setdefault((str(data.get("key")), str(data.get("id"))), command.n)
            if first != command.n:
                what = f"{data.get('cmd')} is the command of entry {first}, used twice"
                yield Finding(command.n, what, "an old word was taken for a new one")
        if data.get("sig") is not None and table_key is not None:
            if not _bears_signature(data, table_key):
                what = f"{data.get('cmd')} does not bear the signature of the key it names"
                yield Finding(command.n, what, "nobody gave this order, or gave another one")
        elif data.get("cmd") in signs and data.get("key") != _PANEL:
            what = f"{data.get('cmd')} has no signature, and others of its kind have"
            yield Finding(command.n, what, "nobody can tell who gave this order")


_PANEL = "panel"
_NAMES_TABLE = frozenset({"opened", "committed"})


def _bears_signature(data: dict[str, Any], table_key: str) -> bool:
    deal, attempt = data.get("of") or (None, None)
    said = {name: data.get(name) for name in ("id", "cmd", "args", "key", "sig")}
    try:
        check(msgspec.convert(said | {"deal": deal, "attempt": attempt}, Command), table_key)
    except (msgspec.ValidationError, BadSignature, ValueError):
        return False
    return True


def _cut(progress: Progress, own: Sequence[Entry]) -> Iterator[Finding]:
    cut = progress.steps.get("cut")
    for command in own:
        result, args = command.data.get("result"), command.data.get("args")
        if cut is None or command.data.get("cmd") != "cut" or not isinstance(result, dict):
            continue
        ordered = [result.get("cut"), *([args.get("n")] if isinstance(args, dict) else [])]
        for number in ordered:
            if type(number) is not int or number != cut.data.get("cut"):
                what = f"a command cut {number}, and the cut is {cut.data.get('cut')}"
                yield Finding(cut.n, what, _NOT_IN_IT)
                break


def _went_on(progress: Progress) -> bool:
    """Tell whether the daemon that took the cut went on with it: then its order was written."""
    cut, begun = progress.steps.get("cut"), progress.steps.get("begun")
    return cut is not None and begun is not None and begun.boot == cut.boot


def _nobody_ordered(
    progress: Progress, own: Sequence[Entry], commands: Sequence[Entry]
) -> Iterator[Finding]:
    cut = progress.steps["cut"]
    if cut.data.get("cut") is not None:
        if not any(one.data.get("cmd") == "cut" and "result" in one.data for one in own):
            yield Finding(cut.n, f"no command cut {cut.data['cut']}", "the machine cut by itself")
        return
    begins = [one for one in own if _ends_waiting(one)]
    if not begins and not any(_starts_uncut(one, progress.attempt) for one in commands):
        what = f"attempt {progress.attempt} was dealt without a cut, and no command says so"
        yield Finding(cut.n, what, "nobody ordered that it be dealt uncut")


def _ends_waiting(command: Entry) -> bool:
    """Tell whether a command said, while the cut was waited for, that there be none."""
    result = command.data.get("result")
    return (
        command.data.get("cmd") == "start_deal"
        and isinstance(result, dict)
        and result.get("cut", 0) is None
        and _says_uncut(command)
    )


def _starts_uncut(command: Entry, attempt: int) -> bool:
    result = command.data.get("result")
    if command.data.get("cmd") != "start_deal" or not isinstance(result, dict):
        return False
    return result.get("attempt") == attempt and "uncut" in result and _says_uncut(command)


def _says_uncut(command: Entry) -> bool:
    args = command.data.get("args")
    return not isinstance(args, dict) or args.get("uncut") is True


def _by_itself(progress: Progress, entries: Sequence[Entry]) -> Iterator[Finding]:
    """Yield hands that were taken back, or a deal that was ended, by an order that nobody gave."""
    steps = progress.steps
    end = steps.get("recalled") or steps.get("withdrawn") or steps.get("verdict")
    first = steps.get("released") or steps.get("committed")
    if end is None or first is None or not _is_ordered(end):
        return
    last = end.n if end.kind == "recalled" else end.n + _CLOSE
    words = (entry for entry in entries if first.n < entry.n <= last)
    if not any(_is_word(entry, end) for entry in words):
        what = f"{end.kind} of attempt {progress.attempt} by an order, and nobody's stands here"
        yield Finding(end.n, what, "nobody ordered that it be dealt again")


def _is_word(entry: Entry, end: Entry) -> bool:
    """Tell whether an entry is a word that such an end can come of."""
    if end.kind == "recalled":
        own = end.deal is not None and entry.deal in (end.deal, end.deal + 1)
        return own and entry.kind == "match" and entry.data.get("event") in _AGAIN
    own = entry.attempt == end.attempt and entry.data.get("cmd") == "void"
    return entry.kind == "command" and own and "result" in entry.data


def _is_ordered(end: Entry) -> bool:
    reasons = end.data.get("reasons")
    return end.kind == "recalled" or (isinstance(reasons, list) and "ORDERED" in reasons)
