"""Score sheets outlive their table: each version and each signature, and nothing twice."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from httpx import AsyncClient

from controller.client.client import NoAnswer
from controller.commands.registry import refusal_reply
from controller.console.console import RefereeConsole
from controller.console.request_error import RequestError
from controller.console.sheet_keeper import RETRY_INTERVAL_S, SheetKeeper
from controller.console.store.database import open_engine
from controller.console.store.match_records import ScoreSheetStore, StoredSheet
from controller.match import match_events
from controller.messages import ClientCommand, CommandReply
from tests.console.fake import now
from tests.console.papers import (
    TABLE,
    Signing,
    SigningLine,
    a_sheet,
    played,
    shown_as,
    standing_with,
)
from tests.console.web import browser, logged_in, refused
from tests.match.table import Table
from tests.waiting import until

pytestmark = pytest.mark.virtual

SIGNERS = ("NS", "EW", "referee")


@pytest.fixture
def sheets(store_url: str) -> Iterator[ScoreSheetStore]:
    """An empty store, of either kind."""
    engine = open_engine(store_url)
    yield ScoreSheetStore(engine, itertools.count().__next__)
    engine.dispose()


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[tuple[RefereeConsole, Signing]]:
    """A console at whose table T10 a match is over."""
    async with standing_with(tmp_path, played()) as both:
        yield both


def sign(tables: Signing, *signers: str) -> None:
    for signer in signers:
        tables.table.does(match_events.SheetSigned, signer=signer, person=f"for {signer}")
        tables.tell_state()


async def kept(
    console: RefereeConsole, fits: Callable[[list[StoredSheet]], object]
) -> list[StoredSheet]:
    """Wait until what is kept of the match fits."""
    store = ScoreSheetStore(console.engine, console.now_ms)
    await until(lambda: fits(store.versions_of("M1")))
    return store.versions_of("M1")


def signed_by(signer: str) -> Callable[[list[StoredSheet]], bool]:
    """Return whether the last that is kept bears a signature."""
    return lambda found: any(
        one.signer == signer and one.person is not None for one in found[-1].sheet.signatures
    )


# The store.


def test_each_signature_is_kept_once(sheets: ScoreSheetStore) -> None:
    table = played()
    for count, signer in enumerate(SIGNERS):
        table.does(match_events.SheetSigned, signer=signer, person="Nan")
        assert sheets.write(a_sheet(table))
        assert not sheets.write(a_sheet(table, head="cd" * 32))
        assert [one.signed for one in sheets.versions_of("M1")] == list(range(1, count + 2))
    assert sheets.newest()[0].sheet == a_sheet(table)


def test_what_nobody_has_signed_is_kept_as_it_was_last(sheets: ScoreSheetStore) -> None:
    table = played()
    sheets.write(a_sheet(table))
    sheets.write(a_sheet(table, head="cd" * 32))
    (one,) = sheets.versions_of("M1")
    assert one.sheet.head == "cd" * 32


def test_a_corrected_sheet_is_a_new_version_beside_the_old(sheets: ScoreSheetStore) -> None:
    table = played().signed()
    sheets.write(a_sheet(table))
    table.corrected(1, "NWE")
    sheets.write(a_sheet(table))
    assert [(one.sheet.version, one.signed) for one in sheets.versions_of("M1")] == [(1, 3), (2, 0)]
    assert sheets.newest()[0].sheet.version == 2


def test_two_matches_of_one_name_stay_two(sheets: ScoreSheetStore) -> None:
    sheet = a_sheet(played().signed())
    later = msgspec.structs.replace(sheet, start_ms=9_000_000)
    elsewhere = msgspec.structs.replace(sheet, table="T11")
    for one in (sheet, later, elsewhere):
        assert sheets.write(one)
    assert len(sheets.newest()) == 3
    assert {one.table for one in sheets.versions_of("M1")} == {"T10", "T11"}
    assert [one.table for one in sheets.versions_of("M1", "T11")] == ["T11"]


def test_the_list_is_of_one_event_where_it_is_named(sheets: ScoreSheetStore) -> None:
    sheets.write(a_sheet(played()))
    sheets.write(a_sheet(played(), "T11", event="春季杯"))
    assert [one.table for one in sheets.newest("春季杯")] == ["T11"]
    assert [one.table for one in sheets.newest()] == ["T11", "T10"]


# Who keeps them.


async def test_a_match_that_ends_is_kept_and_each_signature_after_it(
    at: tuple[RefereeConsole, Signing],
) -> None:
    console, tables = at
    await kept(console, lambda found: [one.signed for one in found] == [0])
    for signer in SIGNERS:
        sign(tables, signer)
        await kept(console, signed_by(signer))
    assert (await kept(console, bool))[-1].sheet.state == "signed"


async def test_a_match_that_is_played_is_not_asked_for(tmp_path: Path) -> None:
    async with standing_with(tmp_path, Table().started()) as (console, _):
        await asyncio.sleep(3 * RETRY_INTERVAL_S)
        assert ScoreSheetStore(console.engine, console.now_ms).versions_of("M1") == []


class Line(SigningLine):
    """A table that does not answer at first."""

    silent = 2
    asked = 0

    async def send(self, command: ClientCommand) -> CommandReply:
        if self._name == TABLE and command.cmd == "sheet":
            Line.asked += 1
            if Line.asked <= Line.silent:
                raise NoAnswer("nobody there")
        return await super().send(command)


async def test_a_table_that_does_not_answer_is_asked_again(tmp_path: Path) -> None:
    tables = Signing(played())
    engine = open_engine(f"sqlite:///{tmp_path / 'x.db'}")
    store = ScoreSheetStore(engine, lambda: 1)
    line = Line(tables, TABLE)

    class Desk:
        async def query(self, table: str, cmd: str) -> CommandReply:
            try:
                return await line.send(ClientCommand(id="1", cmd=cmd))
            except NoAnswer as silent:
                raise RequestError(504, str(silent), "没有应答") from None

    desk: Any = Desk()
    keeper = SheetKeeper(tables, desk, store, now)
    keeper.start()
    await asyncio.sleep(RETRY_INTERVAL_S * 1.5)
    assert store.versions_of("M1") == []
    await asyncio.sleep(RETRY_INTERVAL_S)
    assert len(store.versions_of("M1")) == 1
    tables.tell_state()  # nothing new
    await asyncio.sleep(RETRY_INTERVAL_S)
    assert Line.asked == Line.silent + 1
    await keeper.close()
    engine.dispose()


@pytest.mark.parametrize("code", ["MACHINE_AWAY", "MACHINE_LATE", "TOO_MANY"])
async def test_a_gateway_without_its_machine_does_not_say_that_the_match_is_gone(
    tmp_path: Path, code: str
) -> None:
    tables = Signing(played())
    engine = open_engine(f"sqlite:///{tmp_path / 'x.db'}")
    store, line, said = ScoreSheetStore(engine, lambda: 1), SigningLine(tables, TABLE), [code]

    class Desk:
        async def query(self, table: str, cmd: str) -> CommandReply:
            if said:
                return refusal_reply("1", said[0])
            return await line.send(ClientCommand(id="1", cmd=cmd))

    desk: Any = Desk()
    keeper = SheetKeeper(tables, desk, store, now)
    keeper.start()
    await asyncio.sleep(RETRY_INTERVAL_S * 1.5)
    assert store.versions_of("M1") == []
    said.clear()
    await asyncio.sleep(RETRY_INTERVAL_S)
    assert len(store.versions_of("M1")) == 1
    await keeper.close()
    engine.dispose()


async def test_a_fault_with_one_sheet_ends_the_keeping_of_none(tmp_path: Path) -> None:
    tables = Signing(played())
    engine = open_engine(f"sqlite:///{tmp_path / 'x.db'}")
    store, line, fails = ScoreSheetStore(engine, lambda: 1), SigningLine(tables, TABLE), [True]

    class Desk:
        async def query(self, table: str, cmd: str) -> CommandReply:
            if fails.pop() if fails else False:
                raise ZeroDivisionError
            return await line.send(ClientCommand(id="1", cmd=cmd))

    desk: Any = Desk()
    keeper = SheetKeeper(tables, desk, store, now)
    keeper.start()
    await asyncio.sleep(RETRY_INTERVAL_S * 1.5)
    assert len(store.versions_of("M1")) == 1
    await keeper.close()
    engine.dispose()


async def test_a_match_that_followed_is_not_kept_in_the_place_of_the_one_that_was_over(
    tmp_path: Path,
) -> None:
    tables = Signing(played())
    engine = open_engine(f"sqlite:///{tmp_path / 'x.db'}")
    store, line = ScoreSheetStore(engine, lambda: 1), SigningLine(tables, TABLE)

    class Desk:
        async def query(self, table: str, cmd: str) -> CommandReply:
            reply = await line.send(ClientCommand(id="1", cmd=cmd))
            return msgspec.structs.replace(reply, result=(reply.result or {}) | {"match": "M2"})

    desk: Any = Desk()
    keeper = SheetKeeper(tables, desk, store, now)
    keeper.start()
    await asyncio.sleep(RETRY_INTERVAL_S * 1.5)
    assert (store.versions_of("M1"), store.versions_of("M2")) == ([], [])
    await keeper.close()
    engine.dispose()


# What a browser gets.


async def test_a_sheet_is_asked_of_its_table_with_the_versions_that_are_kept(
    at: tuple[RefereeConsole, Signing],
) -> None:
    console, tables = at
    await kept(console, bool)
    async with logged_in(console, "obs") as client:
        said = (await client.get(f"/api/tables/{TABLE}/sheet")).json()
    assert msgspec.convert(said["sheet"], type(tables.sheet)) == tables.sheet
    assert said["provisional"] == [["Level points", "级分换算表"]]
    assert said["kept_ms"] is None
    assert [one["signed"] for one in said["kept"]] == [0]


async def test_a_table_that_is_gone_leaves_its_signed_sheet(
    at: tuple[RefereeConsole, Signing], monkeypatch: pytest.MonkeyPatch
) -> None:
    console, tables = at
    sign(tables, *SIGNERS)
    await kept(console, lambda found: found and found[-1].signed == 3)

    async def gone(*_: object) -> CommandReply:
        raise NoAnswer("nobody there")

    monkeypatch.setattr(SigningLine, "send", gone)
    async with logged_in(console, "obs") as client:
        of_table = (await client.get(f"/api/tables/{TABLE}/sheet")).json()
        of_match = (await client.get("/api/sheets/M1")).json()
        assert refused(await client.get("/api/tables/T05/sheet"))[0] == 504
    assert of_table["sheet"] == of_match["sheet"]
    assert of_table["kept_ms"] == of_match["kept_ms"] > 0
    assert of_match["sheet"]["state"] == "signed"


async def test_every_version_can_be_looked_at(at: tuple[RefereeConsole, Signing]) -> None:
    console, tables = at
    sign(tables, *SIGNERS)
    await kept(console, lambda found: found and found[-1].signed == 3)
    tables.table.corrected(1, "NWE")
    tables.tell_state()
    await kept(console, lambda found: found[-1].sheet.version == 2)
    async with logged_in(console, "ref") as client:
        old = (await client.get("/api/sheets/M1?version=1")).json()
        new = (await client.get("/api/sheets/M1?table=T10")).json()
        assert refused(await client.get("/api/sheets/M1?version=7"))[0] == 404
        assert refused(await client.get("/api/sheets/M9"))[0] == 404
    assert (old["sheet"]["version"], old["sheet"]["state"]) == (1, "signed")
    assert old["sheet"]["deals"][0]["outcome"]["order"] == ["N", "S"]
    assert new["sheet"]["version"] == 2
    assert new["sheet"]["deals"][0]["outcome"]["order"][0] == "N"
    assert {(one["version"], one["signed"]) for one in new["kept"]} >= {(1, 3), (2, 0)}


async def test_a_match_whose_name_has_a_slash_has_a_sheet(
    at: tuple[RefereeConsole, Signing],
) -> None:
    console, _ = at
    sheet = a_sheet(played().signed(), match="cup/1")
    ScoreSheetStore(console.engine, console.now_ms).write(sheet)
    async with logged_in(console, "ref") as client:
        assert (await client.get("/api/sheets/cup%2F1")).json()["sheet"]["match"] == "cup/1"
    async with browser(console) as stranger:  # the page itself comes from a file, in real time
        assert (await stranger.get("/sheets/cup%2F1")).status_code == 303


async def test_a_sheet_comes_as_a_file_in_the_language_of_who_asks(
    at: tuple[RefereeConsole, Signing],
) -> None:
    console, _ = at
    await kept(console, bool)
    async with logged_in(console, "ref2") as client:
        english = await client.get(f"/api/tables/{TABLE}/sheet.csv")
        chinese = await client.get("/api/sheets/M1?format=csv&language=zh")
        assert refused(await client.get("/api/sheets/M1?format=csv&language=fr"))[0] == 400
    assert english.headers["content-disposition"] == 'attachment; filename="sheet-M1-v1.csv"'
    assert english.headers["content-type"] == "text/csv; charset=utf-8"
    assert english.text.startswith("\ufeffEvent,Round")
    assert chinese.text.startswith("\ufeff比赛,轮次")


async def test_a_sheet_is_not_for_strangers_and_not_for_a_display(
    at: tuple[RefereeConsole, Signing],
) -> None:
    console, _ = at
    paths = (f"/api/tables/{TABLE}/sheet", "/api/sheets/M1", "/api/history")
    async with browser(console) as stranger, logged_in(console, "t01") as display:
        for path in paths:
            assert refused(await stranger.get(path))[0] == 401
            assert refused(await display.get(path))[0] == 403


async def test_a_table_without_a_match_says_so_in_its_own_words(
    at: tuple[RefereeConsole, Signing],
) -> None:
    console, _ = at
    async with logged_in(console, "ref") as client:
        assert refused(await client.get("/api/tables/T01/sheet"))[0] == 404
        assert refused(await client.get("/api/tables/T99/sheet"))[0] == 404


# The list.


async def listed(client: AsyncClient, query: str = "") -> dict[str, dict[str, Any]]:
    found = (await client.get(f"/api/history{query}")).json()["matches"]
    return {f"{one['table']} {one['match']}": one for one in found}


async def test_the_list_has_each_match_once_what_is_played_and_what_is_kept(
    at: tuple[RefereeConsole, Signing],
) -> None:
    console, tables = at
    sign(tables, *SIGNERS)
    await kept(console, lambda found: found and found[-1].signed == 3)
    elsewhere = a_sheet(played().signed(), "T77", match="M7", event="春季杯")
    ScoreSheetStore(console.engine, console.now_ms).write(elsewhere)
    async with logged_in(console, "obs") as client:
        found = await listed(client)
        assert set(await listed(client, "?event=春季杯")) == {"T77 M7"}
    assert found["T10 M1"]["state"] == "signed"
    assert found["T10 M1"]["score"]["level_points"] == {"NS": 15, "EW": 11}
    assert (found["T10 M1"]["corrections"], found["T10 M1"]["penalties"]) == (1, 2)
    assert found["T77 M7"]["signed"] == found["T77 M7"]["signers"] == 3
    assert found["T01 M1"]["state"] == "open"
    assert found["T01 M1"]["kept_ms"] is None


async def test_a_signature_shows_in_the_list_before_it_is_kept(tmp_path: Path) -> None:
    tables = Signing(played())
    sign(tables, "NS")
    state = shown_as(tables.sheet)
    assert (state.match.signed[0].person, state.match.signers) == ("for NS", ["EW", "referee"])
    async with (
        standing_with(tmp_path, tables.table) as (console, _),
        logged_in(console, "obs") as client,
    ):
        line = (await listed(client))["T10 M1"]
    assert (line["state"], line["signed"], line["signers"]) == ("over", 1, 3)
