"""Who looked at a hand of a deal cannot have it dealt again, nor can anybody by mere word."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from controller.journal.entries import JournalEntry
from controller.journal.fold import AttemptHistory
from controller.journal.verify.brought import transferred_rows
from controller.journal.verify.findings import VerifyFinding
from controller.signer_names import names_in_signer_text

# What nobody may order any more who looked at a hand of that deal (PROOF.md).
_REDEAL_COMMANDS = frozenset({"redeal", "void", "recount"})
_LOOKED_MEANS = "whoever opened a hand cannot have it dealt again"


class _MatchDeal(NamedTuple):
    """A deal of a match: another match has a deal of the same number."""

    match: str
    number: int


class _HandLook(NamedTuple):
    """Who looked at a hand of which deal: his key (hex), and the names that he was told by."""

    deal: _MatchDeal
    key: str
    names: frozenset[str]


def check_redeals_after_look(
    entries: Sequence[JournalEntry], progresses: Sequence[AttemptHistory], *, whole: bool
) -> Iterator[VerifyFinding]:
    """Yield orders to deal again by somebody who had looked at a hand, or by mere word.

    A deal that cannot be told, because rows are missing, is none that anybody looked at.
    """
    committed = {
        progress.attempt: str(step.data.get("match"))
        for progress in progresses
        if (step := progress.steps.get("committed")) is not None
    }
    looks: list[_HandLook] = []
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
            looks.append(
                _HandLook(
                    deal, str(entry.data.get("key")), names_in_signer_text(entry.data.get("by"))
                )
            )
        elif any(_is_redeal_by_viewer(entry, look) for look in looks if look.deal == deal):
            what = f"{_action_name(entry)} by a person who had looked at a hand of this deal"
            if entry.data.get("verbal") is True:
                what = f"{_action_name(entry)} by word, behind a look at a hand of this deal"
            yield VerifyFinding(entry.n, what, _LOOKED_MEANS)


def _deal_of_entry(
    entry: JournalEntry, committed: dict[int, str], match: str | None
) -> _MatchDeal | None:
    """Return the deal that an entry concerns; None where that is not known.

    An order that was signed says so itself: the row's own deal may be the next one, dealt ahead.
    """
    deal, attempt = entry.data.get("of") or (entry.deal, entry.attempt)
    if attempt is not None:
        match = committed.get(attempt)
    return None if match is None or type(deal) is not int else _MatchDeal(match, deal)


def _is_redeal_by_viewer(entry: JournalEntry, look: _HandLook) -> bool:
    """Tell whether an entry has a deal dealt again by the word of who looked at a hand of it."""
    data = entry.data
    if entry.kind == "command" and data.get("cmd") in _REDEAL_COMMANDS and "refused" not in data:
        names = names_in_signer_text(data.get("who")) | names_in_signer_text(data.get("person"))
        return data.get("key") == look.key or bool(names & look.names)
    if entry.kind == "match" and data.get("event") == "DealVoided":
        return data.get("verbal") is True or bool(names_in_signer_text(data.get("by")) & look.names)
    return False


def _action_name(entry: JournalEntry) -> str:
    return str(entry.data.get("cmd") or entry.data.get("event"))
