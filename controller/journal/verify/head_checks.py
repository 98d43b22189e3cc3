"""The check of saved heads: the journal must still have each saved head at the same entry.

Signed heads have the table's own signature (controller/signing/signed_heads.py). A signed head that
is not in this journal proves to others that the table changed its past.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from controller.journal.entries import HEAD_BYTES, ZERO_HEAD, JournalEntry, JournalError
from controller.journal.verify.sources import JournalSource
from controller.journal.verify.verify_report import Findings, VerifyFinding
from controller.messages import SignedHead
from controller.roster import read_certificate
from controller.signing import signed_heads

_HEAD_FORMS = "64 hex digits, an event or state of the feed, or lines of `watch --heads`"


class HeadToCheck(NamedTuple):
    """A head of a journal that was saved elsewhere. `n` is its entry's number, or None if unknown.

    `sig` is hex if the head is signed. `table_key` is the key of its table if it names one.
    """

    n: int | None
    head: bytes
    sig: str | None = None
    table_key: str | None = None


class TableIdentity(NamedTuple):
    """The keys of the table to which a journal must belong, each None if it is unknown.

    If `is_certified`, the keys come from a certificate, not from the journal itself.
    """

    table_key: str | None
    verify_key: bytes | None
    is_certified: bool
    findings: tuple[VerifyFinding, ...] = ()


def read_kept_heads(path: Path) -> list[HeadToCheck]:
    """Return the heads of journals that a person saved in the file `path`.

    Each line is hex, an event or a state from the feed, or a signed head. Raises JournalError for a
    file with other content, or an empty file.
    """
    try:
        text = path.read_text(encoding="utf-8")
        kept = [head for line in _split_messages(text) for head in _parse_heads(line)]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise JournalError(f"{path} has no head: expected {_HEAD_FORMS}") from error
    if not kept:
        raise JournalError(f"{path} is empty: expected {_HEAD_FORMS}")
    return kept


def identify_table(entries: Sequence[JournalEntry], certificate: Path | None) -> TableIdentity:
    """Return the table's keys: from `certificate`, or from the entries `opened` if it is None.

    Entries that disagree with the certificate are findings. Raises RosterError for a file that is
    not a certificate.
    """
    told = [entry for entry in entries if entry.kind == "opened"]
    if certificate is None:
        named = [entry.data.get("verify") for entry in told if entry.data.get("verify")]
        key = next((entry.data.get("table_key") for entry in told), None)
        table_key = key if isinstance(key, str) else None
        return TableIdentity(table_key, _common_key(named), is_certified=False)
    table = read_certificate(certificate)
    wrong = []
    for entry in entries:
        key = entry.data.get("table_key") if entry.kind in ("opened", "committed") else None
        verify = entry.data.get("verify", table.verify.hex()) if entry.kind == "opened" else None
        if key is not None and key != table.curve:
            what = f"{entry.kind} names another table's key than {table.name}'s"
            wrong.append(VerifyFinding(entry.n, what, "these rows belong to another table"))
        elif verify is not None and verify != table.verify.hex():
            what = f"opened names another signing key than {table.name}'s"
            wrong.append(VerifyFinding(entry.n, what, "its heads are signed by another key"))
    return TableIdentity(table.curve, table.verify, is_certified=True, findings=tuple(wrong))


def check_kept_heads(
    kept: list[HeadToCheck], source: JournalSource, identity: TableIdentity
) -> Findings:
    """Yield a finding for each saved head of this table that is not a head in `source`.

    If no head belongs to this table, no head can be compared, and a past under another key would
    pass. So that is a finding as well. Raises JournalError if a certificate shows that the heads
    belong to another table.
    """
    own = _heads_of_table(kept, identity.table_key)
    if kept and not own and identity.is_certified:
        raise JournalError("none of the kept heads is of the table that --table names")
    if kept and not own:
        means = "its past was rewritten under another key, or these are another table's heads"
        yield VerifyFinding(None, "none of the kept heads is of the table that it names", means)
    numbers = _numbers_by_head(source)
    at = set(numbers.values())
    last = max(at, default=0)
    for n, head, *_ in own:
        if head == ZERO_HEAD or numbers.get(head, -1) == (numbers.get(head) if n is None else n):
            continue
        if n is not None and n > last:
            what = f"the kept head is that of entry {n}, but entry {last} is the last here"
            yield VerifyFinding(None, what, "the journal's last rows are missing")
        elif n is not None and n in at:
            what = f"the kept head {head.hex()[:16]}… is not the one here"
            yield VerifyFinding(n, what, "the rows up to here were rewritten")
        elif source.whole:
            what = f"no entry has the kept head {head.hex()[:16]}…"
            means = "the journal's last rows are missing, or it was rewritten"
            yield VerifyFinding(n, what, means)


def check_signed_heads(
    kept: list[HeadToCheck], identity: TableIdentity, source: JournalSource
) -> tuple[int, int, list[VerifyFinding]]:
    """Return how many signed heads are found and missing in `source`, and the findings about them.

    Only this table's heads count. A head is found if `source` has its entry. A finding is a wrong
    signature, a second head of one entry, or a missing key.
    """
    findings: list[VerifyFinding] = []
    signed: dict[int, str] = {}
    for one in _heads_of_table(kept, identity.table_key):
        if one.sig is None or one.n is None:
            continue
        if identity.verify_key is None or identity.table_key is None:
            what = "there are signed heads, but no key to check them with"
            findings.append(VerifyFinding(None, what, "name the table's certificate with --table"))
            break
        told = SignedHead(n=one.n, head=one.head.hex(), sig=one.sig)
        if not signed_heads.is_signed_by(told, identity.table_key, identity.verify_key):
            what = f"the signed head of entry {one.n} is not signed by this table"
            certified = "another person made it, or changed it"
            means = certified if identity.is_certified else _UNCERTIFIED_MEANS
            findings.append(VerifyFinding(one.n, what, means))
        elif signed.setdefault(one.n, told.head) != told.head:
            what = f"the table signed two heads of entry {one.n}"
            findings.append(VerifyFinding(one.n, what, "it signed two versions of its past"))
    compared = len(signed.keys() & set(_numbers_by_head(source).values()))
    return compared, len(signed) - compared, findings


def _numbers_by_head(source: JournalSource) -> dict[bytes, int]:
    """Return {head: number of the last entry that it covers} for all heads in `source`."""
    # The head in an entry is the head of the entry before it.
    return {chained.head: chained.entry.n for chained in source.entries} | {
        chained.prev: chained.entry.n - 1 for chained in source.entries
    }


_UNCERTIFIED_MEANS = "it belongs to another table, or the journal names a wrong key"


def _heads_of_table(kept: list[HeadToCheck], table_key: str | None) -> list[HeadToCheck]:
    """Return the saved heads that name `table_key` or no key. Without `table_key`, return all."""
    return [one for one in kept if table_key is None or one.table_key in (None, table_key)]


def _common_key(named: Sequence[object]) -> bytes | None:
    """Return the key if all hex texts in `named` are the same 32-byte key, otherwise None."""
    try:
        keys = {bytes.fromhex(str(each)) for each in named}
    except ValueError:
        return None
    return keys.pop() if len(keys) == 1 and all(len(key) == HEAD_BYTES for key in keys) else None


def _split_messages(text: str) -> Iterator[str]:
    """Yield each line of a text as a message, or the whole text if it is one indented object."""
    if text.lstrip().startswith("{\n"):
        yield text
        return
    yield from (line.strip() for line in text.splitlines() if line.strip())


def _parse_heads(text: str) -> Iterator[HeadToCheck]:
    if not text.startswith("{"):
        yield HeadToCheck(None, _parse_head(text))
        return
    message: dict[str, Any] = msgspec.json.decode(text)
    if "sig" in message:
        key, head = message.get("table_key"), _parse_head(message["head"])
        yield HeadToCheck(_entry_number(message), head, str(message["sig"]), key and str(key))
        return
    is_event = "prev" in message
    yield HeadToCheck(_entry_number(message) if is_event else None, _parse_head(message["head"]))
    if is_event:
        yield HeadToCheck(_entry_number(message) - 1, _parse_head(message["prev"]))
    signed = message.get("signed")
    if isinstance(signed, dict):
        yield HeadToCheck(_entry_number(signed), _parse_head(signed["head"]), str(signed["sig"]))


def _entry_number(message: dict[str, Any]) -> int:
    n = message["n"]
    if type(n) is not int or n < 0:
        raise ValueError("an entry's number is a whole number")
    return n


def _parse_head(text: str) -> bytes:
    raw = bytes.fromhex(text)
    if len(raw) != HEAD_BYTES:
        raise ValueError("a head has 64 hex digits")
    return raw
