"""Events of one attempt or one match in the archive, as their tables published them."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Engine, and_, func, or_, select

from controller.console.store.database_schema import EVENTS, HEADS
from controller.journal.verify import attempt_steps as steps
from controller.messages import PublicEvent

PROOF_KINDS: Final = tuple(step for step in steps.ATTEMPT_STEPS if step != "seed")
"""The kinds of an attempt's public rows (controller/deal/PROOF.md), in their order."""
MAX_PROOF_ROWS: Final = 20_000
"""The most rows of one proof: more than a long match has. Anybody may request a proof, and an
attacker who controls a table's gateway could let an attempt span the whole journal.
"""
_MATCH_START_KINDS: Final = ("meeting", "taken_over")
_NEIGHBOUR_ROWS: Final = 1
"""The number of rows before and after the block: the row right after a step belongs to its proof.
"""


class AttemptRows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows around one attempt, as JSON texts, and the heads that were signed between them.

    `steps`: the kinds of the attempt's rows in the archive. `match`: the match of the deal, None
    for practice.
    """

    steps: tuple[str, ...]
    match: str | None
    bodies: tuple[msgspec.Raw, ...]
    heads: tuple[tuple[int, str], ...]


class AttemptRecords:
    """Queries on attempts and matches in the archive. Every call may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def rows_of_attempt(self, table: str, attempt: int) -> AttemptRows | None:
        """Return the rows around an attempt. None: the archive has no row of it.

        The result contains every row from the commitment to the reveal, so that each row is linked
        to the next, and the opened record, which may be published at the end of the match.
        """
        of_table = _is_in_journal_of_attempt(table, attempt)
        own = and_(of_table, EVENTS.c.attempt == attempt, EVENTS.c.kind.in_(PROOF_KINDS))
        with self._engine.connect() as base:
            steps = base.execute(
                select(EVENTS.c.n, EVENTS.c.kind, EVENTS.c.body).where(own).order_by(EVENTS.c.n)
            ).all()
            if not steps:
                return None
            block = [row.n for row in steps if row.kind != "record"] or [steps[0].n]
            asked = or_(_is_near(block[0], block[-1]), own, *_are_near_records(steps))
            rows = base.scalars(
                select(EVENTS.c.body)
                .where(of_table, asked)
                .order_by(EVENTS.c.n)
                .limit(MAX_PROOF_ROWS)
            ).all()
            heads = base.execute(
                select(HEADS.c.n, HEADS.c.head)
                .where(HEADS.c.table_id == table, HEADS.c.n.between(block[0], steps[-1].n))
                .order_by(HEADS.c.n)
            ).all()
        return AttemptRows(
            steps=tuple(dict.fromkeys(row.kind for row in steps)),
            match=_named_match(row.body for row in steps if row.kind == "committed"),
            bodies=tuple(map(msgspec.Raw, rows)),
            heads=tuple((row.n, row.head) for row in heads),
        )

    def rows_of_match(self, table: str, match: str) -> list[bytes]:
        """Return every row of a match at a table, in order, as lines for `dealtable verify`.

        The rows run from the start of the match (or its transfer from another table) to the start
        of the next match. Rows that were published later for its attempts are added. If the match
        was started twice, the rows run from the first start. Journals of the table without this
        match are left out.
        """
        of_any = EVENTS.c.table_id == table
        lays_out = EVENTS.c.kind.in_(_MATCH_START_KINDS)
        have_it = select(EVENTS.c.journal).where(of_any, lays_out, EVENTS.c.match_id == match)
        of_table = and_(of_any, EVENTS.c.journal.in_(have_it))
        with self._engine.connect() as base:
            laid = base.execute(
                select(EVENTS.c.n, EVENTS.c.body).where(of_table, lays_out).order_by(EVENTS.c.n)
            ).all()
            begins = [(row.n, _named_match([row.body])) for row in laid]
            own = [n for n, named in begins if named == match]
            if not own:
                return []
            ends = [n for n, named in begins if n > own[0] and named != match]
            until = EVENTS.c.n < ends[0] if ends else EVENTS.c.n >= own[0]
            span = and_(of_table, EVENTS.c.n >= own[0], until)
            promised = select(EVENTS.c.attempt).where(span, EVENTS.c.kind == "committed")
            later = and_(of_table, EVENTS.c.kind.in_(PROOF_KINDS), EVENTS.c.attempt.in_(promised))
            rows = base.scalars(select(EVENTS.c.body).where(or_(span, later)).order_by(EVENTS.c.n))
            return list(rows)

    def attempts(self, table: str, match: str) -> list[tuple[int, int, bool]]:
        """Return the attempts of a match at a table: deal, attempt number, and whether it is
        revealed.
        """
        found: dict[int, tuple[int, bool]] = {}
        for body in self.rows_of_match(table, match):
            row = _ROW_DECODER.decode(body)
            if row.attempt is None or row.deal is None or row.kind not in PROOF_KINDS:
                continue
            known = found.get(row.attempt, (row.deal, False))[1]
            found[row.attempt] = row.deal, known or row.kind == "revealed"
        return [(deal, attempt, open_) for attempt, (deal, open_) in sorted(found.items())]

    def is_over(self, table: str, match: str) -> bool:
        """Return whether the table has started another match after this match."""
        laid = and_(EVENTS.c.table_id == table, EVENTS.c.kind.in_(_MATCH_START_KINDS))
        with self._engine.connect() as base:
            rows = base.scalars(
                select(EVENTS.c.body).where(laid).order_by(EVENTS.c.journal, EVENTS.c.n)
            ).all()
        named = [_named_match([body]) for body in rows]
        return match in named and named[-1] != match


def _is_in_journal_of_attempt(table: str, attempt: int) -> ColumnElement[bool]:
    """Return a condition for the rows of a table in its last journal that has this attempt number.

    The condition also includes other journals that have this attempt in the same match. Then the
    table has published two pasts of the match, and a verifier must see both.
    """
    of_table = EVENTS.c.table_id == table
    own = and_(of_table, EVENTS.c.attempt == attempt, EVENTS.c.kind.in_(PROOF_KINDS))
    begun = and_(own, EVENTS.c.kind == "committed")
    last = select(func.max(EVENTS.c.journal)).where(own).scalar_subquery()
    in_last = and_(begun, EVENTS.c.journal == last)
    match = select(EVENTS.c.match_id).where(in_last).limit(1).scalar_subquery()
    same = select(EVENTS.c.journal).where(begun, EVENTS.c.match_id == match)
    return and_(of_table, or_(EVENTS.c.journal == last, EVENTS.c.journal.in_(same)))


def _is_near(first: int, last: int) -> ColumnElement[bool]:
    return EVENTS.c.n.between(first - _NEIGHBOUR_ROWS, last + _NEIGHBOUR_ROWS)


def _are_near_records(steps: Sequence[Any]) -> Iterable[ColumnElement[bool]]:
    return [_is_near(row.n, row.n) for row in steps if row.kind == "record"]


def _named_match(bodies: Iterable[bytes]) -> str | None:
    """Return the match that the first row names. None: there is no row or no match."""
    for body in bodies:
        named = _ROW_DECODER.decode(body).data.get("match")
        return named if isinstance(named, str) and named else None
    return None


class _EventFields(msgspec.Struct):
    kind: str
    deal: int | None
    attempt: int | None
    data: dict[str, Any]


_ROW_DECODER: Final = msgspec.json.Decoder(_EventFields)


_MATCH_START_KIND: Final = "meeting"
_RELEVANT_KINDS: Final = (_MATCH_START_KIND, "match")
_RULING_MARKERS: Final = (b'"Ruling', b'"VerbalConfirmed"')
"""The body of every event that changes a ruling contains one of these texts."""
_EVENT_DECODER: Final = msgspec.json.Decoder(PublicEvent)


class EarlierRulings:
    """Queries on rulings of earlier matches. Every call is one transaction, and may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def matches_of_pairs(self, event: str, pairs: Collection[str]) -> list[list[PublicEvent]]:
        """Return the matches of these pairs in an event: for each its start and its rulings.

        A match that was transferred to another table is returned once for each table.
        """
        asked = (
            select(EVENTS.c.table_id, EVENTS.c.journal, EVENTS.c.kind, EVENTS.c.body)
            .where(EVENTS.c.kind.in_(_RELEVANT_KINDS))
            .order_by(EVENTS.c.table_id, EVENTS.c.journal, EVENTS.c.n)
        )
        with self._engine.connect() as base:
            return list(_matches(base.execute(asked), event, frozenset(pairs)))


def _matches(rows: Any, event: str, pairs: frozenset[str]) -> Iterator[list[PublicEvent]]:
    """Yield the entries of each match of these pairs, from the rows of all tables in order."""
    of_journal, open_ = None, None
    for table, number, kind, body in rows:
        journal = (table, number)
        if kind == _MATCH_START_KIND or journal != of_journal:
            if open_:
                yield open_
            of_journal, open_ = journal, None
        if kind == _MATCH_START_KIND:
            laid_out = _EVENT_DECODER.decode(body)
            open_ = [laid_out] if _is_of_pairs(laid_out.data, event, pairs) else None
        elif open_ and any(word in body for word in _RULING_MARKERS):
            open_.append(_EVENT_DECODER.decode(body))
    if open_:
        yield open_


def _is_of_pairs(data: dict[str, Any], event: str, pairs: frozenset[str]) -> bool:
    said = data.get("meeting")
    if not isinstance(said, dict) or said.get("event") != event:
        return False
    named = said.get("pairs")
    both = named.values() if isinstance(named, dict) else ()
    return any(isinstance(one, dict) and one.get("id") in pairs for one in both)
