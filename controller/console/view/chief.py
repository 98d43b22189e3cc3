"""What is the chief's: what waits for his word, what may be wrong with a table, what will be late.

Pure, of the tables' states and of what somebody has noted beside them (`Noted`): who went where,
hands that were opened, heads that contradict each other. No state tells those.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median_low
from typing import Final, Literal

import msgspec

from controller.console.seen import Seen
from controller.console.standing import Standing
from controller.console.view.areas import ends_ms, is_over, is_playing
from controller.console.view.told_match import fault_words
from controller.console.view.waits import since_epoch_ms
from controller.heads import Disagreement
from controller.messages import Match, Ruling, Side, State
from controller.release import Manifest, compare_state
from controller.rules.seat_words import SEATS
from controller.rules.words import Words

HEAVY: Final = frozenset({"foul", "match_forfeit", "disqualification"})
"""Penalties that the chief hears of, whoever has given them."""
LOST: Final = frozenset({"forfeit", "disqualified", "both_lost"})
"""Verdicts that no deal has brought."""
NEAR: Final = frozenset({"announce_15", "announce_5", "announce_1", "last_deal", "time_up"})
"""When equal levels in a knock-out begin to matter: the last quarter of an hour (provisional)."""

STEP_MS: Final = 30_000
"""An estimate is no more exact than that, and so it is told anew no more often."""

Matter = Literal[
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


class Approval(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A ruling that waits for the chief: to be decided, or (`verbal`) to be stood by.

    `since_ms`: since when, as far as it is known; None where the console has not seen it begin.
    """

    table: str
    ruling: Ruling
    verbal: bool
    since_ms: int | None = None


class Finding(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Something that may be wrong at a table, or has to be known of it."""

    table: str
    kind: Matter
    words_en: str
    words_zh: str
    since_ms: int | None = None
    deal: int | None = None


class Overrun(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A table whose deal under way will end `by_s` after its time is up, if it goes on like this.

    Estimated: so far a deal took `pace_s` from release to release, the mean of its own `deals`; of
    a table in its first deal, the middle of its area's tables (`deals` 0). The present one is taken
    to last as long, and where it has lasted longer to end at once; `by_s` is in whole half minutes.
    What was stopped or dealt again meanwhile counts as played. `ends_ms`: when its time is up, by
    the console's clock.
    """

    table: str
    deal: int
    phase: str
    phase_en: str
    phase_zh: str
    ends_ms: int
    by_s: int
    pace_s: int
    deals: int


class Equal(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A knock-out match whose levels are equal near its end; `due`: an extra deal is to be ordered.

    `ends_ms`: when its time is up, by the console's clock; None where its clock does not run.
    """

    table: str
    level: str
    ends_ms: int | None
    due: bool


class AtA(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A table where a side plays at A, and how often that side has failed there."""

    table: str
    sides: tuple[Side, ...]
    failures: dict[Side, int]


class Unsigned(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A finished sheet that is not signed by all: by how many it is, and who is missing."""

    table: str
    signed: int
    signers: tuple[str, ...]
    since_ms: int | None = None


class Outcome(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A heavy penalty in force, or a match that was lost without being played out."""

    table: str
    words_en: str
    words_zh: str
    side: Side | None
    deal: int | None
    by: str


class Load(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What a referee has on his hands: where he went and is, and since when.

    `done`: tables he has been to and that wait no more, `average_ms` from going to that;
    `orders`: those that tables have carried out for him. All since the console began.
    """

    person: str
    tables: tuple[str, ...]
    since_ms: int | None = None
    done: int = 0
    average_ms: int | None = None
    orders: int = 0


class ChiefView(msgspec.Struct, frozen=True, kw_only=True):
    """All of it; lists are in the order of the tables, what waits longest first."""

    approvals: tuple[Approval, ...] = ()
    integrity: tuple[Finding, ...] = ()
    overrun: tuple[Overrun, ...] = ()
    equal: tuple[Equal, ...] = ()
    at_a: tuple[AtA, ...] = ()
    unsigned: tuple[Unsigned, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    load: tuple[Load, ...] = ()


class OpenedHand(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """A hand that was looked at in the present match."""

    table: str
    seat: str
    by: str
    deal: int | None
    at_ms: int


class Noted(msgspec.Struct, frozen=True, kw_only=True):
    """What is known beside the states. `since`: when an open matter was first seen, by its name.

    `manifest`: of the release that tables should run; None compares nothing. `unsigned_heads`: how
    many signed heads of a table did not fit its key.
    """

    since: Mapping[str, int] = {}
    opened: Sequence[OpenedHand] = ()
    disagreements: Sequence[Disagreement] = ()
    unsigned_heads: Mapping[str, int] = {}
    load: Sequence[Load] = ()
    manifest: Manifest | None = None


NOTHING: Final = Noted()


def chief(seen: Sequence[Seen], now_ms: int, noted: Noted = NOTHING) -> ChiefView:
    """Return what is the chief's in a hall."""
    known = [(one, one.state) for one in seen if one.state is not None]
    playing = [(one, state) for one, state in known if is_playing(state)]
    approvals = [each for one, state in known for each in _approvals(one.table, state, noted)]
    return ChiefView(
        approvals=tuple(sorted(approvals, key=lambda one: one.since_ms or 0)),
        integrity=tuple(finding for one in seen for finding in _findings(one, now_ms, noted)),
        overrun=tuple(_overruns(playing, now_ms)),
        equal=tuple(found for one, state in playing if (found := _equal(one, state)) is not None),
        at_a=tuple(each for one, state in playing for each in _at_a(one.table, state.match)),
        unsigned=tuple(_unsigned(known, noted)),
        outcomes=tuple(each for one, state in known for each in _outcomes(one.table, state.match)),
        load=tuple(noted.load),
    )


# -- what waits for his word ---------------------------------------------------


def open_matters(table: str, state: State) -> Iterator[str]:
    """Yield the names of what is open at a table, by which it is remembered since when."""
    match = state.match
    for ruling in match.rulings:
        if needs_chief(ruling):
            yield f"{table} {match.match} {ruling.id} {ruling.state}"
    if is_over(state) and match.signers:
        yield f"{table} {match.match} unsigned {match.version}"


def needs_chief(ruling: Ruling) -> bool:
    """Tell whether a ruling waits for the chief."""
    return _is_his(ruling) or _is_his_word(ruling)


def _is_his(ruling: Ruling) -> bool:
    return ruling.state == "proposed" and ruling.needs == "chief"


def _is_his_word(ruling: Ruling) -> bool:
    return ruling.state == "decided" and ruling.verbal and ruling.confirmed_by is None


def _approvals(table: str, state: State, noted: Noted) -> Iterator[Approval]:
    for ruling in state.match.rulings:
        if needs_chief(ruling):
            name = f"{table} {state.match.match} {ruling.id} {ruling.state}"
            since_ms = noted.since.get(name)
            yield Approval(
                table=table, ruling=ruling, verbal=_is_his_word(ruling), since_ms=since_ms
            )


# -- what may be wrong ---------------------------------------------------------


def _findings(seen: Seen, now_ms: int, noted: Noted) -> Iterator[Finding]:
    table = seen.table
    how, since_ms = seen.standing(now_ms)
    if how in _KEYS:
        kind, words = _KEYS[how]
        yield _finding(table, kind, words, since_ms=since_ms)
    for one in noted.disagreements:
        if one.shown.table == table:
            at_ms = since_epoch_ms(one.shown.time)
            yield _finding(table, "two_pasts", Words(one.en, one.zh), since_ms=at_ms)
    if heads := noted.unsigned_heads.get(table):
        en = f"{heads} signed heads of its journal do not fit its key"
        yield _finding(table, "unsigned_head", Words(en, f"{heads}个日志链头签名与密钥不符"))
    for hand in noted.opened:
        if hand.table == table:
            yield _opened(hand)
    if seen.state is not None:
        yield from _unreleased(table, seen.state, noted.manifest)
        yield from _of_sets(table, seen.state)
        yield from _of_deals(table, seen.state)


_KEYS: Final[Mapping[Standing, tuple[Matter, Words]]] = {
    Standing.OTHER_KEY: (
        "other_key",
        Words("another key answers there: another machine?", "密钥不符，疑似换机"),
    ),
    Standing.KEY_REFUSED: (
        "key_refused",
        Words("the table refuses the console's key", "密钥被拒"),
    ),
}


def _finding(
    table: str, kind: Matter, words: Words, *, since_ms: int | None = None, deal: int | None = None
) -> Finding:
    return Finding(
        table=table, kind=kind, words_en=words.en, words_zh=words.zh, since_ms=since_ms, deal=deal
    )


def _opened(hand: OpenedHand) -> Finding:
    seat = SEATS.get(hand.seat, Words(hand.seat, hand.seat))
    en, zh = f"{hand.by} has looked at {seat.en}'s hand", f"{hand.by}开验了{seat.zh}手牌"
    return _finding(hand.table, "hand_opened", Words(en, zh), since_ms=hand.at_ms, deal=hand.deal)


def _unreleased(table: str, state: State, manifest: Manifest | None) -> Iterator[Finding]:
    """Yield in what a table reports something else than was released; that it is not there, too."""
    if manifest is None:
        return
    told = compare_state(manifest, state)
    for part, like in ((name, getattr(told, name)) for name in told.__struct_fields__):
        if like == "same" or (like == "unknown" and part != "program"):
            continue  # a board that is not there has an alert of its own
        name = _PARTS[part]
        words = Words(f"{name.en} of another release", f"{name.zh}非本次发布版本")
        if like == "unknown":
            words = Words(f"{name.en} without a release", f"{name.zh}无发布清单")
        yield _finding(table, "unreleased", words)


_PARTS: Final[Mapping[str, Words]] = {
    "program": Words("the table's program is", "本台程序"),
    "dealer": Words("the dealer board's firmware is", "发牌控制板固件"),
    "reader": Words("the reader board's firmware is", "识牌控制板固件"),
}


def _of_sets(table: str, state: State) -> Iterator[Finding]:
    """Yield the sets whose composition is in doubt, with the deal that was played with them."""
    for each in state.sets:
        if each.barred:
            why = fault_words(each.barred)
            en = f"set {each.id} is in doubt ({why.en})"
            zh = f"第{each.id}套牌张数存疑（{why.zh}）"
            if each.last_deal is not None:
                en += f": deal {each.last_deal} of {each.last_match} was played with it last"
                zh += f"，最后用于{each.last_match}第{each.last_deal}副"
            yield _finding(table, "set_barred", Words(en, zh), deal=each.last_deal)


def _of_deals(table: str, state: State) -> Iterator[Finding]:
    """Yield what is unusual about the deals whose proofs the table shows."""
    for proof in state.fairness:
        if proof.recalled:
            why = fault_words(proof.recalled)
            words = Words(
                f"hands that were out are dealt again ({why.en})", f"已放行后重发（{why.zh}）"
            )
            yield _finding(table, "recalled", words, deal=proof.deal)
        if proof.uncut:
            words = Words("dealt without a cut", "未切牌即发牌")
            yield _finding(table, "uncut", words, deal=proof.deal)
    if state.match.by_hand:
        words = Words("this deal is dealt by hand", "本副人工发牌")
        yield _finding(table, "by_hand", words, deal=state.match.deal)


# -- time ----------------------------------------------------------------------


class _Pace(msgspec.Struct, frozen=True, gc=False):
    """How long a table's deals took, in the mean of so many; the present one began at `began_ms`.

    Both moments by the console's clock.
    """

    seen: Seen
    match: Match
    ends_ms: int
    began_ms: int
    pace_ms: int | None
    deals: int


def _overruns(playing: Sequence[tuple[Seen, State]], now_ms: int) -> Iterator[Overrun]:
    paces = [pace for one, state in playing if (pace := _pace(one, state)) is not None]
    usual = _usual(paces)
    for each in paces:
        pace_ms = each.pace_ms or usual.get(each.seen.area)
        if pace_ms is None:
            continue
        late_ms = max(each.began_ms + pace_ms, now_ms) - each.ends_ms
        if late_ms >= STEP_MS:
            match = each.match
            yield Overrun(
                table=each.seen.table,
                deal=match.deal or 0,
                phase=match.phase,
                phase_en=match.phase_en,
                phase_zh=match.phase_zh,
                ends_ms=each.ends_ms,
                by_s=late_ms // STEP_MS * STEP_MS // 1000,
                pace_s=pace_ms // 1000,
                deals=each.deals,
            )


def _pace(seen: Seen, state: State) -> _Pace | None:
    """Return a table's pace where a deal is under way and the clock runs."""
    match, up_ms = state.match, ends_ms(seen, state)
    if up_ms is None or match.clock is None or match.clock.deadline_ms is None:
        return None
    if match.began_ms is None or not match.deal:
        return None
    deals, pace_ms = match.deal - 1, None
    if deals and match.start_ms is not None:
        pace_ms = max(0, match.began_ms - match.start_ms) // deals
    began_ms = up_ms - (match.clock.deadline_ms - match.began_ms)
    return _Pace(seen, match, up_ms, began_ms, pace_ms, deals)


def _usual(paces: Iterable[_Pace]) -> dict[str, int]:
    """Return the middle of the paces of each area."""
    found: dict[str, list[int]] = {}
    for each in paces:
        if each.pace_ms is not None:
            found.setdefault(each.seen.area, []).append(each.pace_ms)
    return {area: median_low(those) for area, those in found.items()}


# -- levels, sheets, results ----------------------------------------------------


def _equal(seen: Seen, state: State) -> Equal | None:
    match = state.match
    level, due = match.levels.get("NS"), match.phase == "match_check"
    if match.stage != "knockout" or level is None or level != match.levels.get("EW"):
        return None
    if not due and match.announced not in NEAR:
        return None
    return Equal(table=seen.table, level=level, ends_ms=ends_ms(seen, state), due=due)


def _at_a(table: str, match: Match) -> Iterator[AtA]:
    at_a = tuple(side for side, level in match.levels.items() if level == "A")
    if at_a:
        failures = {side: n for side, n in (match.failures or {}).items() if side in at_a}
        yield AtA(table=table, sides=at_a, failures=failures)


def _unsigned(known: Iterable[tuple[Seen, State]], noted: Noted) -> Iterator[Unsigned]:
    for one, state in known:
        match = state.match
        if is_over(state) and match.signers:
            name = f"{one.table} {match.match} unsigned {match.version}"
            yield Unsigned(
                table=one.table,
                signed=len(match.signed),
                signers=tuple(match.signers),
                since_ms=noted.since.get(name),
            )


def _outcomes(table: str, match: Match) -> Iterator[Outcome]:
    for ruling in match.rulings:
        if ruling.state == "decided" and ruling.penalty in HEAVY:
            yield Outcome(
                table=table,
                words_en=f"{ruling.penalty_en}: {ruling.offence_en}",
                words_zh=f"{ruling.penalty_zh}：{ruling.offence_zh}",
                side=ruling.side,
                deal=ruling.deal,
                by=ruling.approved_by or ruling.by,
            )
    verdict = match.verdict
    if verdict is not None and verdict.how in LOST:
        yield Outcome(
            table=table,
            words_en=verdict.how_en,
            words_zh=verdict.how_zh,
            side=verdict.winner,
            deal=match.deal,
            by="",
        )
