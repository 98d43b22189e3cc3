"""The archive, in SQLite and in PostgreSQL: nothing twice, nothing lost, two pasts side by side."""

import random
from collections.abc import Iterator

import msgspec
import pytest
from msgspec.structs import replace
from sqlalchemy import Engine, create_engine, insert, inspect, select, text, update

from controller.console.store.archive import (
    PAGE_ROWS,
    Archive,
    JournalMark,
    StoredEvent,
    WriteBatch,
)
from controller.console.store.database import StoreError, open_engine
from controller.console.store.database_schema import (
    EVENTS,
    JOURNAL_MARKS,
    METADATA,
    SCHEMA_VERSION,
    VERSION_ROWS,
)
from controller.messages import PublicEvent
from controller.signing.signed_heads import KeptHead
from tests.console.journal import contradicting_numbers


def told(n: int, table: str = "T01", head: str = "", match: str | None = None) -> StoredEvent:
    data = {} if match is None else {"match": match}
    said = PublicEvent(
        table=table,
        boot="b",
        n=n,
        time="2027-01-01T00:00:00+00:00",
        simulated=True,
        kind="state",
        deal=1,
        attempt=None,
        data=data,
        prev="",
        head=head or f"{n:064x}",
    )
    return StoredEvent(said, msgspec.json.encode(said))


@pytest.fixture
def engine(store_url: str) -> Iterator[Engine]:
    """A database of its own."""
    engine = open_engine(store_url)
    yield engine
    engine.dispose()


@pytest.fixture
def archive(engine: Engine) -> Archive:
    """An empty archive."""
    return Archive(engine)


def test_what_comes_twice_is_kept_once(archive: Archive) -> None:
    assert archive.keep([told(1), told(2)]) == 2
    assert archive.keep([told(2), told(3), told(3)]) == 1
    assert [one.n for one in archive.events("T01")] == [1, 2, 3]


def test_in_whatever_order_they_come_they_are_read_in_theirs(archive: Archive) -> None:
    numbers = list(range(1, 2 * PAGE_ROWS + 7))
    random.Random(1).shuffle(numbers)
    archive.keep([told(n) for n in numbers])
    assert [one.n for one in archive.events("T01")] == sorted(numbers)
    assert [one.n for one in archive.events("T01", since=PAGE_ROWS)] == list(
        range(PAGE_ROWS + 1, 2 * PAGE_ROWS + 7)
    )
    assert archive.last_number("T01") == 2 * PAGE_ROWS + 6


def test_tables_do_not_mix(archive: Archive) -> None:
    archive.keep([told(1), told(7, "T02")])
    assert archive.last_number("T01") == 1
    assert archive.last_number("T02") == 7
    assert archive.last_number("T03") == 0
    assert [one.table for one in archive.events("T02")] == ["T02"]


def test_a_table_that_tells_another_past_has_both_kept(archive: Archive) -> None:
    archive.keep([told(1), told(2)])
    archive.keep([told(2, head="f" * 64)])
    assert contradicting_numbers(archive._engine, "T01") == [2]


def test_an_order_is_found_behind_any_number_of_others_and_over_a_new_journal(
    archive: Archive,
) -> None:
    orders = [f"order-{n}" for n in range(2 * PAGE_ROWS)]
    rows = [{"id": order} for order in orders] + [{"id": "order-no", "refused": "JAM"}]
    events = [replace(told(n).event, kind="command", data=row) for n, row in enumerate(rows, 1)]
    events.append(replace(told(len(rows) + 1).event, data={"id": "order-state"}))
    archive.keep([StoredEvent(one, msgspec.json.encode(one)) for one in events])
    archive.write([WriteBatch(marks={"T01": JournalMark(1, "a" * 64, journal=2)})])
    asked = [orders[-1], orders[0], "order-no", "order-state", "nobody's"]
    assert archive.find_executed("T01", asked) == {orders[-1]: len(orders), orders[0]: 1}
    assert archive.find_executed("T02", asked) == {}


def begun_anew(archive: Archive) -> None:
    """A hundred entries of a table's first journal, and five of its second."""
    first = [told(n, match="M1" if n == 90 else None) for n in range(1, 101)]
    other = [told(n, head=f"{n:x}".rjust(64, "a")) for n in range(1, 6)]
    archive.write([WriteBatch(tuple(first), {"T01": JournalMark(100, f"{100:064x}")})])
    archive.keep(other[:2])  # heard before the table was asked
    second = tuple(replace(one, journal=2) for one in other)
    archive.write([WriteBatch(second, {"T01": JournalMark(5, second[-1].event.head, journal=2)})])


def test_a_table_that_begins_another_journal_is_asked_for_that_one_alone(archive: Archive) -> None:
    begun_anew(archive)
    heads = [f"{n:x}".rjust(64, "a") for n in range(1, 6)]
    assert archive.last_number("T01") == 5
    assert archive.last_number_of("T01", {"state"}) == 5
    assert [one.head for one in archive.newest("T01", 3)] == heads[2:]
    assert [one.head for one in archive.events("T01")] == heads
    assert archive.marks()["T01"].journal == 2
    assert contradicting_numbers(archive._engine, "T01") == [1, 2, 3, 4, 5]


def test_a_database_without_a_version_is_brought_up_with_what_it_has(store_url: str) -> None:
    old = create_engine(store_url)
    METADATA.create_all(old)
    with old.begin() as base:
        base.execute(text("DROP TABLE schema_version"))
        for table in ("events", "complete"):
            base.execute(text(f"ALTER TABLE {table} DROP COLUMN journal"))
        base.execute(text("DROP INDEX events_of_commands"))
        base.execute(insert(JOURNAL_MARKS), {"table_id": "T01", "n": 1, "head": "a" * 64})
        row = {"table_id": "T01", "n": 1, "head": "a" * 64, "kind": "state", "time": "now"}
        base.execute(insert(EVENTS), row | {"body": told(1).body})
    old.dispose()
    for _ in range(2):
        engine = open_engine(store_url)
        archive = Archive(engine)
        assert archive.marks() == {"T01": JournalMark(1, "a" * 64, journal=1)}
        assert [one.n for one in archive.events("T01")] == [1]
        with engine.connect() as base:
            assert base.scalars(select(VERSION_ROWS.c.version)).all() == [SCHEMA_VERSION]
        named = {index["name"] for index in inspect(engine).get_indexes("events")}
        assert "events_of_commands" in named
        engine.dispose()


PUBLIC: dict[str, dict[str, tuple[int, ...]]] = {
    "old": {"old-1": (1, 3, 4, 7, 8), "old-2": (10, 12, 13, 17, 30)},
    "new": {"new-1": (1, 3, 4, 6), "new-2": (8, 9, 12)},
    "only": {"only-1": (1, 3, 4), "only-2": (6, 7)},
}
"""Numbers of the public entries of three journals, by the runs that wrote them."""


def journal(name: str, table: str) -> list[PublicEvent]:
    """The public entries of a journal, chained over the private ones between them."""
    return [
        replace(
            told(n, table).event,
            boot=boot,
            time=f"2027-01-0{2 if name == 'new' else 1}T00:00:{n:02}+00:00",
            prev=f"{name} {n - 1}",
            head=f"{name} {n}",
        )
        for boot, numbers in PUBLIC[name].items()
        for n in numbers
    ]


def test_a_database_without_a_version_tells_a_tables_journals_apart(store_url: str) -> None:
    old = create_engine(store_url)
    METADATA.create_all(old)
    kept = [*journal("old", "T01"), *journal("new", "T01"), *journal("only", "T02")]
    with old.begin() as base:
        base.execute(text("DROP TABLE schema_version"))
        for table in ("events", "complete"):
            base.execute(text(f"ALTER TABLE {table} DROP COLUMN journal"))
        for table, last in (("T01", kept[-6]), ("T02", kept[-1])):
            row = {"table_id": table, "n": last.n, "head": last.head}
            base.execute(insert(JOURNAL_MARKS), row)
        for one in kept:
            row = {"table_id": one.table, "n": one.n, "head": one.head, "kind": one.kind}
            row |= {"time": one.time, "body": msgspec.json.encode(one)}
            base.execute(insert(EVENTS), row)
    old.dispose()
    for _ in range(2):
        engine = open_engine(store_url)
        archive = Archive(engine)
        assert list(archive.events("T01")) == journal("new", "T01")
        assert list(archive.events("T02")) == journal("only", "T02")
        marks = archive.marks()
        assert marks == {
            "T01": JournalMark(12, "new 12", journal=2),
            "T02": JournalMark(7, "only 7"),
        }
        with engine.begin() as base:
            base.execute(text("DROP TABLE schema_version"))  # as if a power cut had come before
        engine.dispose()


def test_the_database_of_a_newer_console_is_refused_and_not_touched(store_url: str) -> None:
    open_engine(store_url).dispose()
    newer = create_engine(store_url)
    with newer.begin() as base:
        base.execute(update(VERSION_ROWS).values(version=SCHEMA_VERSION + 1))
        base.execute(text("DROP TABLE takes"))
    with pytest.raises(StoreError) as refused:
        open_engine(store_url)
    assert f"it is of version {SCHEMA_VERSION + 1}, and this console knows {SCHEMA_VERSION}" in str(
        refused.value
    )
    assert "\n" not in str(refused.value)
    assert not inspect(newer).has_table("takes")
    newer.dispose()


def signed(n: int, head: str = "0") -> KeptHead:
    return KeptHead(
        table="T01", table_key="k" * 40, n=n, head=head * 64, sig="1" * 128, time=f"at {n}"
    )


def test_signed_heads_are_kept_once(archive: Archive) -> None:
    archive.write([WriteBatch(heads=(signed(4), signed(4)))])
    archive.write([WriteBatch(heads=(signed(4), signed(5)))])
    assert archive.heads("T01") == [signed(4), signed(5)]
    assert archive.disagreements() == []


def test_a_head_that_contradicts_one_kept_before_is_kept_and_told_with_it(archive: Archive) -> None:
    archive.write([WriteBatch(heads=(signed(4), signed(9)))])
    told = archive.write([WriteBatch(heads=(signed(9, "f"),))]).disagreements
    assert [(one.kind, one.kept, one.shown) for one in told] == [
        ("forked", signed(9), signed(9, "f"))
    ]
    (rewound,) = archive.write([WriteBatch(heads=(signed(5),))]).disagreements
    assert rewound.kind == "rewound"
    assert rewound.kept.n == 9
    assert archive.write([WriteBatch(heads=(signed(9, "f"), signed(5)))]).disagreements == ()
    assert sorted(one.kind for one in archive.disagreements()) == ["forked", "rewound"]


def test_how_complete_a_table_is_stands_beside_its_events_and_the_last_word_counts(
    archive: Archive,
) -> None:
    assert archive.marks() == {}
    archive.write(
        [
            WriteBatch(
                (told(1),), {"T01": JournalMark(1, "a" * 64), "T02": JournalMark(7, "b" * 64)}
            ),
            WriteBatch((told(2),), {"T01": JournalMark(2, "c" * 64)}),
        ]
    )
    assert archive.marks() == {"T01": JournalMark(2, "c" * 64), "T02": JournalMark(7, "b" * 64)}
    archive.write([WriteBatch(marks={"T01": JournalMark(1, "a" * 64)})])  # another past begins
    assert archive.marks()["T01"].n == 1


def test_the_newest_events_come_in_their_order_and_the_last_of_a_kind_has_a_number(
    archive: Archive,
) -> None:
    archive.keep([told(n) for n in range(1, 9)])
    assert [one.n for one in archive.newest("T01", 3)] == [6, 7, 8]
    assert archive.newest("T02", 3) == []
    assert archive.last_number_of("T01", {"state", "meeting"}) == 8
    assert archive.last_number_of("T01", {"meeting"}) == 0


def test_what_was_kept_is_there_after_a_restart(store_url: str) -> None:
    first = open_engine(store_url)
    Archive(first).keep([told(1)])
    first.dispose()
    again = open_engine(store_url)
    assert Archive(again).last_number("T01") == 1
    again.dispose()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:////nowhere/at/all.db", "unable to open database file"),
        ("what?", "store (no URL)"),
        ("postgresql+psycopg://li:secret@127.0.0.1:1/x", "li:***@127.0.0.1"),
    ],
)
def test_a_database_that_cannot_be_used_is_one_line_without_its_password(
    url: str, said: str
) -> None:
    with pytest.raises(StoreError) as raised:
        open_engine(url)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)
