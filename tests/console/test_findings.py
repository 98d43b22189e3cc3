"""What the console notes for the chief beside the states: events, the archive, who went where."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Engine

from controller.console.console_config import ConsoleSettings
from controller.console.live_pages.chief_notes import POLL_INTERVAL_S, ChiefNotes
from controller.console.store.archive import Archive, StoredEvent, WriteBatch
from controller.console.store.database import StoreError, open_engine
from controller.console.table_snapshots import Result
from controller.console.view.chief_page import ChiefView
from controller.host.toml_files import FileError
from controller.release.release_files import (
    SIGNATURE_SUFFIX,
    make_release_keys,
    read_expected_manifest,
    read_release_key,
)
from controller.signing.releases import Manifest, encode_manifest, sign_manifest
from controller.signing.signed_heads import KeptHead
from tests.console.fake import NOW_MS, Scripted, an_event, now
from tests.console.web import listening, logged_in, standing

pytestmark = pytest.mark.virtual


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    """An empty archive."""
    engine: Engine = open_engine(f"sqlite:///{tmp_path / 'console.db'}")
    yield Archive(engine)
    engine.dispose()


class Hall:
    """Scripted tables, who goes where, and the notes about them."""

    def __init__(self, archive: Archive) -> None:
        self.tables, self.goes = Scripted(), dict[str, str]()
        self.findings = ChiefNotes(self.tables, archive, self.goes.get, now)

    def view(self, at_ms: int | None = None) -> ChiefView:
        """Return what the chief sees."""
        seen = [self.tables.snapshot(table) for table in self.tables.ids]
        return self.findings.view(seen, NOW_MS if at_ms is None else at_ms)

    def opened(self) -> list[tuple[str, int | None]]:
        """Return whose hands were opened."""
        return [(one.table, one.deal) for one in self.view().integrity if one.kind == "hand_opened"]

    def hears(
        self, n: int, kind: str, *, boot: str = "one", ago_s: float = 0, times: int = 1, **data: str
    ) -> None:
        """Hear an event of T01, of one run of its daemon; the very same more often, if asked."""
        event = msgspec.structs.replace(an_event("T01", n, kind, data, ago_s), boot=boot)
        for _ in range(times):
            self.findings.note_event(event)

    def seats(self) -> list[str]:
        """Return whose hands of T01's present match are known, the oldest first."""
        return [one.hand.seat for one in self.findings._opened_hands.get("T01", ())]


@pytest.fixture
async def hall(archive: Archive) -> AsyncIterator[Hall]:
    """A hall whose notes are taken."""
    made = Hall(archive)
    made.findings.start()
    yield made
    await made.findings.close()


def kept(table: str, n: int, kind: str, **data: object) -> StoredEvent:
    """Return an event as the archive has it."""
    event = an_event(table, n, kind, data)
    return StoredEvent(event, msgspec.json.encode(event))


async def test_an_opened_hand_is_known_until_another_match_begins(hall: Hall) -> None:
    hall.tables.tell("T01", "opened_hand", seat="N", reason="claim", by="Chen", key="aa")
    assert hall.opened() == [("T01", 2)]
    hall.tables.tell("T02", "meeting", match="M9")
    assert hall.opened() == [("T01", 2)]
    hall.tables.tell("T01", "meeting", match="M9")
    assert hall.opened() == []


@pytest.mark.parametrize("kind", ["meeting", "taken_over"])
async def test_what_comes_late_of_a_match_before_is_not_of_this_one(hall: Hall, kind: str) -> None:
    """A table's answer brings what was missed, behind what its feed has said since."""
    hall.hears(100, "meeting")
    hall.hears(110, "opened_hand", seat="N")
    hall.hears(50, kind)
    hall.hears(60, "opened_hand", seat="S")
    assert hall.seats() == ["N"]


async def test_a_match_that_comes_late_takes_the_hands_before_it_away_and_no_later_ones(
    hall: Hall,
) -> None:
    hall.hears(110, "opened_hand", seat="N")
    hall.hears(90, "opened_hand", seat="S")
    assert hall.seats() == ["S", "N"]
    hall.hears(100, "meeting")
    hall.hears(105, "opened_hand", times=2, seat="W")
    assert hall.seats() == ["W", "N"]


async def test_a_journal_that_begins_anew_begins_its_match_with_lower_numbers(hall: Hall) -> None:
    hall.hears(900, "meeting", ago_s=90)
    hall.hears(910, "opened_hand", ago_s=80, seat="N")
    hall.hears(5, "meeting", boot="another", ago_s=20)
    assert hall.seats() == []
    hall.hears(8, "opened_hand", boot="another", ago_s=10, seat="W")
    assert hall.seats() == ["W"]


async def test_the_hands_of_a_table_that_was_let_go_are_not_shown(hall: Hall) -> None:
    hall.tables.tell("T01", "opened_hand", seat="N", by="Chen")
    hall.tables.tell("T02", "opened_hand", seat="N", by="Chen")
    hall.tables.remove("T01")
    assert hall.opened() == [("T02", 2)]


async def test_a_hand_that_was_opened_before_the_console_began_is_in_the_archive(
    archive: Archive,
) -> None:
    archive.keep(
        [
            kept("T01", 5, "meeting", match="M1"),
            kept("T01", 9, "opened_hand", seat="N", by="Chen"),
            kept("T02", 5, "opened_hand", seat="N", by="Chen"),
            kept("T02", 9, "meeting", match="M2"),
        ]
    )
    hall = Hall(archive)
    hall.findings.start()
    await asyncio.sleep(POLL_INTERVAL_S)
    assert hall.opened() == [("T01", 2)]
    hall.hears(3, "opened_hand", boot="boot0001", seat="S")
    assert hall.seats() == ["N"]
    await hall.findings.close()


async def test_heads_that_contradict_each_other_are_read_from_the_archive(archive: Archive) -> None:
    def head(byte: str) -> KeptHead:
        time = "2027-01-01T00:00:00+00:00"
        return KeptHead(
            table="T01", table_key="k" * 40, n=7, head=byte * 64, sig=byte * 128, time=time
        )

    archive.write([WriteBatch(heads=(head("a"),)), WriteBatch(heads=(head("b"),))])
    hall = Hall(archive)
    hall.findings.start()
    await asyncio.sleep(POLL_INTERVAL_S)
    assert "two_pasts" in {one.kind for one in hall.view().integrity}
    await hall.findings.close()


async def test_who_goes_where_and_how_long_he_was_there_is_his_load(hall: Hall) -> None:
    assert hall.view(at_ms=0).load == ()
    hall.goes |= {"T01": "Li", "T02": "Li", "T03": "Wu"}
    hall.view(at_ms=10_000)
    del hall.goes["T02"]
    hall.goes["T03"] = "Li"
    load = {one.person: one for one in hall.view(at_ms=40_000).load}
    assert (load["Li"].tables, load["Li"].since_ms) == (("T01", "T03"), 10_000)
    assert (load["Li"].done, load["Li"].average_ms) == (1, 30_000)
    assert (load["Wu"].tables, load["Wu"].done) == ((), 1)


async def test_orders_that_tables_carried_out_are_counted_by_who_gave_them(hall: Hall) -> None:
    hall.tables.tell("T01", "command", id="1", cmd="hold", person="Li", result={})
    hall.tables.tell("T02", "command", id="2", cmd="hold", person="Li", refused="STALE")
    hall.tables.tell("T02", "command", id="3", cmd="hold", person=None, result={})
    assert [(one.person, one.orders) for one in hall.view().load] == [("Li", 1)]


async def test_what_is_open_is_remembered_since_when_and_forgotten_once_it_is_not(
    hall: Hall,
) -> None:
    (first,) = [one for one in hall.view(at_ms=1000).unsigned if one.table == "T10"]
    (later,) = [one for one in hall.view(at_ms=9000).unsigned if one.table == "T10"]
    assert first.since_ms == later.since_ms == 1000
    known = hall.tables.snapshot("T10").state
    assert known is not None
    signed = msgspec.structs.replace(known, match=msgspec.structs.replace(known.match, signers=[]))
    hall.tables.say("T10", signed)
    assert not [one for one in hall.view(at_ms=9500).unsigned if one.table == "T10"]
    hall.tables.say("T10", known)
    (again,) = [one for one in hall.view(at_ms=9900).unsigned if one.table == "T10"]
    assert again.since_ms == 9900


async def test_while_the_database_is_away_the_rest_is_noted(archive: Archive) -> None:
    async def away(call: Callable[[], Result], /) -> Result:
        raise StoreError("the database is away")

    tables = Scripted()
    findings = ChiefNotes(tables, archive, lambda table: None, away)
    findings.start()
    await asyncio.sleep(POLL_INTERVAL_S)
    tables.tell("T01", "opened_hand", seat="N", by="Chen")
    view = findings.view([tables.snapshot("T01")], NOW_MS)
    assert [one.kind for one in view.integrity] == ["hand_opened"]
    await findings.close()


async def test_the_chiefs_page_is_told_what_was_noted(tmp_path: Path) -> None:
    async with (
        standing(tmp_path) as (console, tables),
        logged_in(console, "chief") as client,
        listening(client, "/stream/hall") as events,
    ):
        await client.post("/api/tables/T02/take", json={})
        tables.tell("T05", "opened_hand", seat="N", by="Chen")
        told = await events.part("chief", lambda view: view["load"] and view["integrity"])
    assert [(one["person"], one["tables"]) for one in told["load"]] == [("chief", ["T02"])]
    assert ("T05", "hand_opened") in {(one["table"], one["kind"]) for one in told["integrity"]}


def test_the_release_that_tables_should_run_is_read_with_its_signature(tmp_path: Path) -> None:
    manifest = Manifest(version="1", released="2027-01-01", serial=1, files={}, firmware={})
    raw = encode_manifest(manifest)
    file, key = tmp_path / "manifest.json", tmp_path / "release"
    file.write_bytes(raw)
    public, secret = make_release_keys(key)
    signed = sign_manifest(raw, read_release_key(secret, secret=True))
    file.with_name(f"{file.name}{SIGNATURE_SUFFIX}").write_text(f"{signed}\n")
    assert read_expected_manifest(file, None) == manifest
    assert read_expected_manifest(file, public) == manifest
    file.write_bytes(raw.replace(b"2027", b"2026"))
    with pytest.raises(FileError, match="signature"):
        read_expected_manifest(file, public)


def test_a_releases_key_alone_is_no_release() -> None:
    with pytest.raises(ValueError, match="release_key"):
        ConsoleSettings(release_key=Path("release.key"))
