"""The stored score sheets, and queries for the archived events of one attempt or one match.

A signed sheet stays readable after its table is removed.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Engine, Row, and_, delete, func, or_, select
from sqlalchemy.exc import SQLAlchemyError

from controller.console.store.database import StoreError, dialect_insert
from controller.console.store.database_schema import EVENTS, HEADS, SHEETS
from controller.journal.verify import attempt_steps as steps
from controller.messages import PublicEvent
from controller.sheet.form import ScoreSheet

MAX_LISTED_MATCHES: Final = 1_000
"""The most matches in a list: more than a day of a large hall."""


class StoredSheet(msgspec.Struct, frozen=True, kw_only=True):
    """A score sheet that was stored at `kept_ms` (milliseconds since 1970).

    `signed` is the number of its signatures.
    """

    table: str
    sheet: ScoreSheet
    signed: int
    kept_ms: int


class ScoreSheetStore:
    """The score sheets in the database. Every call is one transaction, and may block."""

    def __init__(self, engine: Engine, now_ms: Callable[[], int]) -> None:
        self._engine, self._now_ms = engine, now_ms
        self._insert = dialect_insert(engine)(SHEETS).on_conflict_do_nothing()

    def write(self, sheet: ScoreSheet) -> bool:
        """Store a sheet, and return whether it was new.

        It is not new if its version is already stored with as many signatures. But a sheet without
        signatures is no evidence yet, so a newer unsigned one replaces it. Raises StoreError.
        """
        row = {
            "table_id": sheet.table,
            "match_id": sheet.match,
            "start_ms": sheet.start_ms or 0,
            "version": sheet.version,
            "signed": signature_count(sheet),
            "state": sheet.state,
            "event": sheet.event,
            "round": sheet.round,
            "match_no": sheet.match_no,
            "table_no": sheet.table_no,
            "at_ms": self._now_ms(),
            "body": msgspec.json.encode(sheet),
        }
        try:
            with self._engine.begin() as base:
                if not row["signed"]:
                    own = [column == row[column.name] for column in SHEETS.primary_key.columns]
                    base.execute(delete(SHEETS).where(*own))
                return bool(base.execute(self._insert.returning(SHEETS.c.signed), [row]).all())
        # OverflowError: a number that is too large for the database.
        except (SQLAlchemyError, OverflowError) as error:
            raise StoreError(str(error).partition("\n")[0]) from None

    def newest(self, event: str | None = None) -> list[StoredSheet]:
        """Return the last stored sheet of each match, the newest sheet first.

        With `event`, only the matches of this tournament are returned.
        """
        asked = select(SHEETS).order_by(SHEETS.c.at_ms.desc(), SHEETS.c.signed.desc())
        if event is not None:
            asked = asked.where(SHEETS.c.event == event)
        found: dict[tuple[str, str, int], StoredSheet] = {}
        with self._engine.connect() as base:
            for row in base.execute(asked):
                key = row.table_id, row.match_id, row.start_ms
                if key not in found:
                    found[key] = _stored_sheet(row)
                if len(found) == MAX_LISTED_MATCHES:
                    break
        return list(found.values())

    def versions_of(self, match: str, table: str | None = None) -> list[StoredSheet]:
        """Return all stored sheets of a match (only from `table`, if given), the oldest first."""
        named: list[ColumnElement[bool]] = [SHEETS.c.match_id == match]
        if table is not None:
            named.append(SHEETS.c.table_id == table)
        asked = (
            select(SHEETS)
            .where(*named)
            .order_by(SHEETS.c.start_ms, SHEETS.c.version, SHEETS.c.signed, SHEETS.c.at_ms)
        )
        with self._engine.connect() as base:
            return [_stored_sheet(row) for row in base.execute(asked)]


def signature_count(sheet: ScoreSheet) -> int:
    """Return the number of signatures on the present version of a score sheet."""
    return sum(line.person is not None for line in sheet.signatures)


def _stored_sheet(row: Row[Any]) -> StoredSheet:
    return StoredSheet(
        table=row.table_id,
        sheet=_SHEET_DECODER.decode(row.body),
        signed=row.signed,
        kept_ms=row.at_ms,
    )


_SHEET_DECODER: Final = msgspec.json.Decoder(ScoreSheet)

PROOF_KINDS: Final = tuple(step for step in steps.ATTEMPT_STEPS if step != "seed")
"""The kinds of an attempt's public rows (controller/deal/PROOF.md), in their order."""
MAX_PROOF_ROWS: Final = 20_000
"""The most rows of one proof: more than a long match has. Anybody may request a proof, and an
attacker who controls a table's gateway could let an attempt span the whole journal.
"""
_MATCH_START_KINDS: Final = ("meeting", "taken_over")
_NEIGHBOUR_ROWS: Final = 1
"""The number of events that are added before and after the events of an attempt, because the
event right after a step belongs to its proof.
"""


class AttemptRows(msgspec.Struct, frozen=True, kw_only=True):
    """All stored events from an attempt's commitment to its seed, and the signed heads in between.

    `steps` are the kinds of the attempt's events in the archive. `match` is the match of the deal,
    or None for practice. `bodies` are the events as JSON texts. `heads` are (entry number, head).
    """

    steps: tuple[str, ...]
    match: str | None
    bodies: tuple[msgspec.Raw, ...]
    heads: tuple[tuple[int, str], ...]


class AttemptRecords:
    """Queries for the events of an attempt or a match in the archive. Every call may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def rows_of_attempt(self, table: str, attempt: int) -> AttemptRows | None:
        """Return the stored events of an attempt, or None if the archive has no event of it.

        The result contains every event from the commitment to the published seed, so that each is
        linked to the next, and the opened record, which may be published at the end of the match.
        """
        of_table = _is_in_journal_of_attempt(table, attempt)
        own = and_(of_table, EVENTS.c.attempt == attempt, EVENTS.c.kind.in_(PROOF_KINDS))
        with self._engine.connect() as base:
            steps = base.execute(
                select(EVENTS.c.n, EVENTS.c.kind, EVENTS.c.body).where(own).order_by(EVENTS.c.n)
            ).all()
            if not steps:
                return None
            near_records = [_is_near(row.n, row.n) for row in steps if row.kind == "record"]
            block = [row.n for row in steps if row.kind != "record"] or [steps[0].n]
            asked = or_(_is_near(block[0], block[-1]), own, *near_records)
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
        """Return the events of a match at a table, in order, as input lines of `dealtable verify`.

        The events run from the start of the match (or its transfer from another table) to the start
        of the next match. Events that were published later for its attempts are added. If the match
        was started twice, they run from the first start. Journals of the table without this match
        are left out.
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
        """Return (deal, attempt, whether its seed is published) for each attempt of a match."""
        found: dict[int, tuple[int, bool]] = {}
        for body in self.rows_of_match(table, match):
            row = _ROW_DECODER.decode(body)
            if row.attempt is None or row.deal is None or row.kind not in PROOF_KINDS:
                continue
            known = found.get(row.attempt, (row.deal, False))[1]
            found[row.attempt] = row.deal, known or row.kind == "revealed"
        return [(deal, attempt, open_) for attempt, (deal, open_) in sorted(found.items())]

    def is_over(self, table: str, match: str) -> bool:
        """Return whether this match was at the table, but the table's last match is another one."""
        laid = and_(EVENTS.c.table_id == table, EVENTS.c.kind.in_(_MATCH_START_KINDS))
        with self._engine.connect() as base:
            rows = base.scalars(
                select(EVENTS.c.body).where(laid).order_by(EVENTS.c.journal, EVENTS.c.n)
            ).all()
        named = [_named_match([body]) for body in rows]
        return match in named and named[-1] != match


def _is_in_journal_of_attempt(table: str, attempt: int) -> ColumnElement[bool]:
    """Return a condition that selects all events of the last journal that has this attempt.

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


def _named_match(bodies: Iterable[bytes]) -> str | None:
    """Return the match id in the first event, or None if there is no event or no match id."""
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
    """Queries for earlier rulings in the matches of a tournament. Every call may block."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def matches_of_pairs(self, event: str, pairs: Collection[str]) -> list[list[PublicEvent]]:
        """Return a list of events for each match that any of `pairs` played in tournament `event`.

        Each list has the start of the match and the events that change its rulings. A match that
        was transferred to another table has one list for each table.
        """
        asked = (
            select(EVENTS.c.table_id, EVENTS.c.journal, EVENTS.c.kind, EVENTS.c.body)
            .where(EVENTS.c.kind.in_(_RELEVANT_KINDS))
            .order_by(EVENTS.c.table_id, EVENTS.c.journal, EVENTS.c.n)
        )
        with self._engine.connect() as base:
            return list(_matches(base.execute(asked), event, frozenset(pairs)))


def _matches(rows: Any, event: str, pairs: frozenset[str]) -> Iterator[list[PublicEvent]]:
    """Yield a list of events for each match that any of `pairs` played in tournament `event`.

    `rows` are the events of all tables, sorted by table, journal and number.
    """
    of_journal, open_ = None, None
    for table, number, kind, body in rows:
        journal = (table, number)
        if kind == _MATCH_START_KIND or journal != of_journal:
            if open_:
                yield open_
            of_journal, open_ = journal, None
        if kind == _MATCH_START_KIND:
            laid_out = _EVENT_DECODER.decode(body)
            said = laid_out.data.get("meeting")
            meeting = said if isinstance(said, dict) else {}
            named = meeting.get("pairs") if meeting.get("event") == event else None
            both = named.values() if isinstance(named, dict) else ()
            met = any(isinstance(one, dict) and one.get("id") in pairs for one in both)
            open_ = [laid_out] if met else None
        elif open_ and any(word in body for word in _RULING_MARKERS):
            open_.append(_EVENT_DECODER.decode(body))
    if open_:
        yield open_
