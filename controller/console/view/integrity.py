"""Facts that put a table's integrity in doubt, from its state and from the console's notes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec

from controller.console.freshness import Freshness, stamp_to_epoch_ms
from controller.console.table_snapshots import TableSnapshot
from controller.console.view import fill_struct
from controller.console.view.phrases import fault_words
from controller.console.view.wait_reasons import UNHEARD_WORDS
from controller.messages import PublicState
from controller.seats import SEAT_NAMES
from controller.signing.releases import Manifest, compare_release
from controller.signing.signed_heads import HeadConflict
from controller.words import Words


class Workload(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The work of one referee since the console started.

    `tables`: where the referee is or is going. `since_ms`: since when. `done`: tables where the
    referee has been and that no longer wait. `average_ms`: the mean time from the start of the way
    until then. `orders`: commands that tables executed for the referee.
    """

    person: str
    tables: tuple[str, ...]
    since_ms: int | None = None
    done: int = 0
    average_ms: int | None = None
    orders: int = 0


class OpenedHandNote(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A note that a person looked at the cards of a seat during the present match."""

    table: str
    seat: str
    by: str
    deal: int | None
    at_ms: int


class HallNotes(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that the console itself noted about the tables. No state of a table contains them.

    `first_seen_ms`: first times of open matters, by name. `manifest`: of the release that tables
    should run. With None, nothing is compared. `unsigned_heads`: how many signed heads of a table
    did not fit its key.
    """

    first_seen_ms: Mapping[str, int] = {}
    opened_hands: Sequence[OpenedHandNote] = ()
    disagreements: Sequence[HeadConflict] = ()
    unsigned_heads: Mapping[str, int] = {}
    workloads: Sequence[Workload] = ()
    manifest: Manifest | None = None


NO_NOTES: Final = HallNotes()

FindingKind = Literal[
    "other_key",
    "key_refused",
    "two_pasts",
    "unsigned_head",
    "unreleased",
    "hand_opened",
    "set_barred",
    "recalled",
    "uncut",
    "by_hand",
]


class IntegrityFinding(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A fact that puts a table's integrity in doubt, so that the chief must see it."""

    table: str
    kind: FindingKind
    words_en: str
    words_zh: str
    since_ms: int | None = None
    deal: int | None = None


def list_integrity_findings(
    snapshot: TableSnapshot, now_ms: int, notes: HallNotes
) -> Iterator[IntegrityFinding]:
    """Yield each fact that puts a table's integrity in doubt, from its state and from `notes`."""
    table = snapshot.table
    how, since_ms = snapshot.freshness(now_ms)
    if how in _KEY_FINDINGS:
        yield _finding(table, _KEY_FINDINGS[how], UNHEARD_WORDS[how], since_ms=since_ms)
    for one in notes.disagreements:
        if one.shown.table == table:
            at_ms = stamp_to_epoch_ms(one.shown.time)
            yield _finding(table, "two_pasts", Words(one.en, one.zh), since_ms=at_ms)
    if heads := notes.unsigned_heads.get(table):
        en = f"{heads} signed heads of its journal do not fit its key"
        yield _finding(table, "unsigned_head", Words(en, f"{heads}个日志链头签名与密钥不符"))
    for hand in notes.opened_hands:
        if hand.table == table:
            seat = SEAT_NAMES.get(hand.seat, Words(hand.seat, hand.seat))
            en, zh = f"{hand.by} has looked at {seat.en}'s hand", f"{hand.by}开验了{seat.zh}手牌"
            words = Words(en, zh)
            yield _finding(table, "hand_opened", words, since_ms=hand.at_ms, deal=hand.deal)
    if snapshot.state is not None:
        yield from _release_findings(table, snapshot.state, notes.manifest)
        yield from _set_findings(table, snapshot.state)
        yield from _deal_findings(table, snapshot.state)


_KEY_FINDINGS: Final[Mapping[Freshness, FindingKind]] = {
    Freshness.OTHER_KEY: "other_key",
    Freshness.KEY_REFUSED: "key_refused",
}


def _finding(table: str, kind: FindingKind, words: Words, **more: int | None) -> IntegrityFinding:
    return fill_struct(IntegrityFinding, table=table, kind=kind, words=words, **more)


def _release_findings(
    table: str, state: PublicState, manifest: Manifest | None
) -> Iterator[IntegrityFinding]:
    """Yield one finding for each program or firmware that is not from the release `manifest`."""
    if manifest is None:
        return
    told = compare_release(manifest, state.release, state.boards)
    for part, like in ((name, getattr(told, name)) for name in told.__struct_fields__):
        if like == "same" or (like == "unknown" and part != "program"):
            continue  # A missing board has its own alert.
        name = _PROGRAM_PARTS[part]
        words = Words(f"{name.en} of another release", f"{name.zh}非本次发布版本")
        if like == "unknown":
            words = Words(f"{name.en} without a release", f"{name.zh}无发布清单")
        yield _finding(table, "unreleased", words)


_PROGRAM_PARTS: Final[Mapping[str, Words]] = {
    "program": Words("the table's program is", "本台程序"),
    "dealer": Words("the dealer board's firmware is", "发牌控制板固件"),
    "reader": Words("the reader board's firmware is", "识牌控制板固件"),
}


def _set_findings(table: str, state: PublicState) -> Iterator[IntegrityFinding]:
    """Yield a finding for each barred set (a set that may be incomplete).

    The finding names the last deal that was played with the set.
    """
    for each in state.sets:
        if each.barred:
            why = fault_words(each.barred)
            en = f"set {each.id} is in doubt ({why.en})"
            zh = f"第{each.id}套牌张数存疑（{why.zh}）"
            if each.last_deal is not None:
                en += f": deal {each.last_deal} of {each.last_match} was played with it last"
                zh += f"，最后用于{each.last_match}第{each.last_deal}副"
            yield _finding(table, "set_barred", Words(en, zh), deal=each.last_deal)


def _deal_findings(table: str, state: PublicState) -> Iterator[IntegrityFinding]:
    """Yield a finding for each deal that was recalled, dealt without a cut, or dealt by hand.

    Only the present deal and the deals with a published proof are checked.
    """
    for proof in state.fairness:
        if proof.recalled:
            why = fault_words(proof.recalled)
            words = Words(f"released hands are dealt again ({why.en})", f"已放行后重发（{why.zh}）")
            yield _finding(table, "recalled", words, deal=proof.deal)
        if proof.uncut:
            words = Words("dealt without a cut", "未切牌即发牌")
            yield _finding(table, "uncut", words, deal=proof.deal)
    if state.match.by_hand:
        words = Words("this deal is dealt by hand", "本副人工发牌")
        yield _finding(table, "by_hand", words, deal=state.match.deal)
