"""A draw goes to the tables of an area: whole or not at all, and each match once."""

import msgspec
import pytest
from httpx import AsyncClient

from controller.console.commands.command_log import CommandLog
from controller.console.console import RefereeConsole
from tests.console.draw_desk import BODY, Lines, laid_out, sent
from tests.console.draw_desk import at as at
from tests.console.draw_desk import referee as referee
from tests.console.draw_files import FIRST, SECOND, a_file, changed
from tests.console.states import state
from tests.console.web import browser, logged_in, refused

pytestmark = pytest.mark.virtual


async def test_looking_at_a_draw_sends_nothing(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    shown = (await sent(referee)).json()
    assert (shown["faults"], shown["encoding"]) == ([], "gb18030")
    assert [row["table"] for row in shown["matches"]] == ["T01", "T02"]
    assert shown["matches"][0]["busy"]
    assert shown["matches"][0]["now"] == "M1"
    assert at[1].laid == []


async def test_every_table_gets_its_match_by_whom_it_was_sent(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    told = await laid_out(referee)
    assert all(one["reply"]["ok"] for one in told.values())
    assert [(table, order.person) for table, order in at[1].laid] == [
        ("T01", "ref"),
        ("T02", "ref"),
    ]
    assert at[1].laid[0][1].args["pairs"]["NS"]["name"] == "梅队"


async def test_a_draw_that_is_sent_again_acts_once(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    for _ in range(3):
        told = await laid_out(referee)
        assert all(one["reply"]["ok"] for one in told.values())
    assert len(at[1].laid) == 2
    assert [row["here"] for row in (await sent(referee)).json()["matches"]] == [True, True]


async def test_what_a_table_refused_may_be_sent_once_more(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    console, lines = at
    lines.refusing = {"T02"}
    told = await laid_out(referee)
    assert told["T01"]["reply"]["ok"]
    assert told["T02"]["reply"]["error"]["code"] == "WRONG_PHASE"
    lines.refusing = set()
    told = await laid_out(referee)
    assert told["T02"]["reply"]["ok"]
    assert [table for table, _ in lines.laid] == ["T01", "T02", "T02"]
    order = lines.laid[-1][1].id
    assert order.endswith("-2")
    assert CommandLog(console.engine).find(order) is not None


async def test_a_match_that_is_gone_again_may_be_laid_out_once_more(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, lines = at
    await laid_out(referee)
    lines.tables.say("T01", state(table="T01", match={"match": "another"}))
    await laid_out(referee)
    assert len(lines.laid) == 2  # it was said a moment ago: its state may be on its way
    later = console.now_ms() + 120_000
    monkeypatch.setattr(console, "now_ms", lambda: later)
    await laid_out(referee)
    assert [table for table, _ in lines.laid] == ["T01", "T02", "T01"]


async def test_another_person_does_not_do_it_a_second_time_and_hears_who_did_it(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    await laid_out(referee)
    async with logged_in(at[0], "ref2") as other:
        told = await laid_out(other)
    assert all(one["reply"]["ok"] for one in told.values())
    assert {one["person"] for one in told.values()} == {"ref"}
    assert len(at[1].laid) == 2


async def test_what_is_not_known_of_anothers_draw_is_asked_for_in_his_name_and_acts_once(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    console, lines = at
    lines.silent = {"T02"}
    told = await laid_out(referee)
    assert told["T02"]["unknown"]
    async with logged_in(console, "ref2") as other:
        still = await laid_out(other)
        assert (still["T02"]["unknown"], still["T02"]["person"]) == (True, "ref")
        lines.silent = set()
        told = await laid_out(other)
    assert told["T02"]["reply"]["ok"]
    (first, *more) = [order for table, order in lines.laid if table == "T02"]
    assert len(more) == 2
    assert all(order == first for order in more)  # in its very bytes: the table acts once
    assert first.person == "ref"


async def test_a_chiefs_order_that_is_not_known_is_the_chiefs_and_it_is_said_whose(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    console, lines = at
    lines.silent = {"T02"}
    async with logged_in(console, "chief") as chief:
        await laid_out(chief)
    told = await laid_out(referee)
    assert "this command is from chief:" in told["T02"]["error"]["en"]
    assert "chief" in told["T02"]["error"]["zh"]
    assert [table for table, _ in lines.laid].count("T02") == 1


async def test_a_draw_with_a_fault_is_sent_to_nobody(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    body = a_file(FIRST, changed(SECOND, stage="?"))
    shown = (await sent(referee, body)).json()
    assert [fault["line"] for fault in shown["faults"]] == [3]
    assert refused(await sent(referee, body, digest=shown["digest"]))[0] == 409
    assert at[1].laid == []


async def test_only_the_file_that_was_looked_at_is_sent(
    at: tuple[RefereeConsole, Lines], referee: AsyncClient
) -> None:
    shown = (await sent(referee)).json()
    other = a_file(FIRST, changed(SECOND, ns_name="x"))
    for body, event in ((other, "Cup"), (BODY, "Another")):
        answer = await sent(referee, body, digest=shown["digest"], event=event)
        assert refused(answer)[0] == 409
    assert at[1].laid == []


async def test_an_area_has_its_own_tables_alone(referee: AsyncClient) -> None:
    shown = (await sent(referee, a_file(FIRST, changed(SECOND, table="7")), area="A")).json()
    assert [(fault["line"], fault["column_zh"]) for fault in shown["faults"]] == [(3, "台号")]
    assert refused(await sent(referee, area="Z"))[0] == 404


async def test_who_may_not_lay_a_match_out_sends_none(at: tuple[RefereeConsole, Lines]) -> None:
    async with browser(at[0]) as stranger:
        assert refused(await sent(stranger))[0] == 401
    for name in ("obs", "tech", "t01"):
        async with logged_in(at[0], name) as client:
            assert refused(await sent(client))[0] == 403
            assert refused(await client.get("/api/draw/columns"))[0] == 403


async def test_the_example_and_its_columns_are_told_in_both_languages(referee: AsyncClient) -> None:
    columns = (await referee.get("/api/draw/columns")).json()["columns"]
    assert [one["zh"] for one in columns][:3] == ["台号", "轮次", "局"]
    assert all(one["about"][0] and one["about"][1] for one in columns)
    for language, first in (("zh", "台号"), ("en", "table"), ("中文", "台号")):
        answer = await referee.get("/api/draw/example.csv", params={"language": language})
        assert answer.content.startswith(b"\xef\xbb\xbf" + first.encode())
        shown = (await sent(referee, answer.content)).json()
        assert shown["faults"] == []


async def test_a_file_that_is_too_large_is_refused(referee: AsyncClient) -> None:
    answer = await sent(referee, b"x" * (1 << 21))
    assert refused(answer)[0] == 413


def test_an_order_is_named_as_the_desk_wants_it() -> None:
    from controller.console.commands.command_log import CommandId
    from controller.console.view.draw_validation import read_draw

    (laid,) = read_draw(a_file(FIRST), ("T01",), "Cup").matches
    assert msgspec.convert(f"{laid.command_id}-49", CommandId)
