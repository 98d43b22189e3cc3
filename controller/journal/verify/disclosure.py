"""The checks of the times at which hands were shown and secret match events were published.

They check when a hand was shown, to which person, and which commands that person gave later. A
person who opened a hand of a deal must not order a redeal of it. If a hand of the deal is opened, a
spoken decision must not order a redeal either.
"""

from collections.abc import Sequence
from typing import NamedTuple

from controller.journal.attempt_history import AttemptHistory
from controller.journal.entries import JournalEntry
from controller.journal.verify.command_effects import transferred_rows
from controller.journal.verify.verify_report import Findings, VerifyFinding
from controller.rules.profile import Profile
from controller.rules.profile_files import ProfilesByHash
from controller.words import names_in_signer_text

# Commands that a person must not give after opening a hand of that deal (PROOF.md).
_REDEAL_COMMANDS = frozenset({"redeal", "void", "recount"})
_LOOKED_MEANS = "a person who opened a hand cannot have it dealt again"


_MatchDeal = tuple[str, int]
"""The match and the number of a deal. Deals of two matches may have the same number."""


class _OpenedHand(NamedTuple):
    """The opening of a hand: its deal, and the key (hex) and names of the person who opened it."""

    deal: _MatchDeal
    key: str
    names: frozenset[str]


def check_redeals_after_look(
    entries: Sequence[JournalEntry], progresses: Sequence[AttemptHistory], *, whole: bool
) -> Findings:
    """Yield a finding for each redeal ordered by a person who had opened a hand of the same deal.

    After any opening of a hand, a spoken decision must not cause a redeal either. Entries are
    not checked if missing rows make their deal unknown.
    """
    committed = {
        progress.attempt: str(step.data.get("match"))
        for progress in progresses
        if (step := progress.steps.get("committed")) is not None
    }
    opened_hands: list[_OpenedHand] = []
    match: str | None = None
    elsewhere = transferred_rows(entries)
    for entry in entries:
        if entry.kind == "meeting":
            match = str(entry.data.get("match"))
        if entry.n in elsewhere:
            continue
        deal = _deal_of_entry(entry, committed, match if whole else None)
        if deal is None:
            continue
        if entry.kind == "opened_hand":
            names = names_in_signer_text(entry.data.get("by"))
            opened_hands.append(_OpenedHand(deal, str(entry.data.get("key")), names))
        elif any(_is_redeal_after_opening(entry, one) for one in opened_hands if one.deal == deal):
            what = f"{_action_name(entry)} by a person who had looked at a hand of this deal"
            if entry.data.get("verbal") is True:
                what = f"{_action_name(entry)} by a spoken decision after a look at a hand of it"
            yield VerifyFinding(entry.n, what, _LOOKED_MEANS)


def _deal_of_entry(
    entry: JournalEntry, committed: dict[int, str], match: str | None
) -> _MatchDeal | None:
    """Return the match and number of an entry's deal, or None if one of them is unknown.

    A signed command names its deal. Its row may have the number of the next deal, dealt ahead.
    """
    deal, attempt = entry.data.get("of") or (entry.deal, entry.attempt)
    if attempt is not None:
        match = committed.get(attempt)
    return None if match is None or type(deal) is not int else (match, deal)


def _is_redeal_after_opening(entry: JournalEntry, hand: _OpenedHand) -> bool:
    """Return whether an entry orders a redeal and comes from the person who opened `hand`.

    Return True also for a `DealVoided` by a spoken decision (`verbal`).
    """
    data = entry.data
    if entry.kind == "command" and data.get("cmd") in _REDEAL_COMMANDS and "refused" not in data:
        names = names_in_signer_text(data.get("who")) | names_in_signer_text(data.get("person"))
        return data.get("key") == hand.key or bool(names & hand.names)
    if entry.kind == "match" and data.get("event") == "DealVoided":
        return data.get("verbal") is True or bool(names_in_signer_text(data.get("by")) & hand.names)
    return False


def _action_name(entry: JournalEntry) -> str:
    return str(entry.data.get("cmd") or entry.data.get("event"))


# After these events, a match that had ended may continue, although its hands have been shown.
_REOPENING_EVENTS = frozenset(
    {"ExtraDealOrdered", "Corrected", "TimeAdded", "RulingApproved", "RulingRejected"}
)


def check_shown_hands(
    entries: Sequence[JournalEntry],
    progresses: Sequence[AttemptHistory],
    rulebooks: ProfilesByHash,
    *,
    whole: bool,
) -> Findings:
    """Yield a finding for hands that were shown too early, or not shown when they were due.

    Also yield one for each attempt under the wrong rules, and for each redeal that was ordered
    after the opening of a hand of the deal.
    """
    meetings = [entry for entry in entries if entry.kind == "meeting"]
    reopened = [entry.n for entry in entries if entry.data.get("event") in _REOPENING_EVENTS]
    for number, progress in enumerate(progresses):
        later = progresses[number + 1 :]
        profile = _profile_of_attempt(progress, rulebooks)
        played = "released" in progress.steps and "recalled" not in progress.steps
        if profile is not None and played:
            yield from _check_hands_shown(progress, later, meetings, reopened, profile, whole=whole)
        committed = progress.steps.get("committed")
        if committed is not None:
            before = [
                entry.data.get("profile_hash")
                for entry in meetings
                if entry.n < committed.n and entry.data.get("match") == committed.data.get("match")
            ]
            if before and committed.data.get("profile_hash") not in before:
                what = f"attempt {progress.attempt} has other rules than its match was set up for"
                yield VerifyFinding(committed.n, what, "it was dealt under other rules")
    yield from check_redeals_after_look(entries, progresses, whole=whole)


def _check_hands_shown(
    progress: AttemptHistory,
    later: Sequence[AttemptHistory],
    meetings: Sequence[JournalEntry],
    reopened: Sequence[int],
    profile: Profile,
    *,
    whole: bool,
) -> Findings:
    record, when = progress.steps.get("record"), profile.hands_opened
    match = progress.steps["committed"].data.get("match")
    laid_out = any(entry.data.get("match") == match for entry in meetings)
    if record is not None and when == "never":
        what = "its rulebook never shows hands"
        yield VerifyFinding(record.n, what, "hands were shown all the same")
    if record is not None and when == "match_end" and laid_out:
        for other in later:
            began = other.steps.get("committed")
            if began is None or began.n < record.n or began.data.get("match") != match:
                continue
            if not any(record.n < n < began.n for n in reopened):
                what = f"its match continued with attempt {other.attempt}"
                yield VerifyFinding(record.n, what, "hands were shown too early")
            break
    if record is None and when != "never" and whole and "sealed_to_chief" not in progress.steps:
        others = [one for one in later if "committed" in one.steps]
        if any(one.steps["committed"].data.get("match") != match for one in others):
            what = f"attempt {progress.attempt} was played, and its match is over"
            yield VerifyFinding(progress.steps["released"].n, what, "its record is not open")


def _profile_of_attempt(progress: AttemptHistory, rulebooks: ProfilesByHash) -> Profile | None:
    data = progress.data("committed") or {}
    try:
        return rulebooks.find(bytes.fromhex(str(data["profile_hash"])))
    except (KeyError, ValueError):
        return None


# After these rows the match at the table is another one, or there is none.
_KINDS_ENDING_MATCH = frozenset({"meeting", "transferred", "taken_over"})


def check_late_rows(entries: Sequence[JournalEntry]) -> Findings:
    """Yield a finding for each secret match event that was published too late, or with changes."""
    kept = {entry.n: entry.data for entry in entries if entry.kind == "match_kept"}
    if not kept:
        return
    for entry in entries:
        if entry.kind == "match_told":
            yield from _check_published_as_kept(entry, kept)
    waiting: list[int] = []
    for entry in entries:
        if entry.kind == "match_kept":
            waiting.append(entry.n)
        elif entry.kind == "match_told":
            told = {one.get("n") for one in entry.data["told"]}
            waiting = [n for n in waiting if n not in told]
        elif entry.kind in _KINDS_ENDING_MATCH:
            waiting.clear()
        elif entry.kind == "released":
            for n in waiting:
                what = f"the withheld data of entry {n} were not published before the next release"
                yield VerifyFinding(entry.n, what, "an answer or a card stays hidden")
            waiting.clear()


def _check_published_as_kept(entry: JournalEntry, kept: dict[int, dict[str, object]]) -> Findings:
    told = entry.data.get("told", ())
    if not isinstance(told, list | tuple) or not all(isinstance(one, dict) for one in told):
        what = "the published value is not a list of events"
        yield VerifyFinding(entry.n, what, "it cannot be compared")
        return
    for one in told:
        if not isinstance(one.get("n"), int) or kept.get(one.get("n")) != one.get("event"):
            what = f"the published data of entry {one.get('n')} differ from the stored ones"
            yield VerifyFinding(entry.n, what, "an answer or a card was changed afterwards")
