"""The ruling desk's questions over HTTP, at tables whose matches are really played."""

import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from controller.console.console import RefereeConsole
from controller.console.store.archive import StoredEvent
from controller.console.view.ruling_cases import lost_time_with_reasons
from controller.messages import Role
from tests.console.played import PlayedTables, console_of
from tests.console.web import browser, logged_in, refused

NUMBERS = itertools.count()
Desk = tuple[RefereeConsole, PlayedTables]


@pytest.fixture
async def at_desk(tmp_path: Path) -> AsyncIterator[Desk]:
    console, tables = console_of(tmp_path)
    await console.start()
    yield console, tables
    await console.close()
    console.engine.dispose()


async def get(console: RefereeConsole, path: str, name: str = "ref", **query: Any) -> Any:
    async with logged_in(console, name) as client:
        answer = await client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


async def post(console: RefereeConsole, path: str, body: Any, name: str = "ref") -> Any:
    async with logged_in(console, name) as client:
        answer = await client.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()


async def order(console: RefereeConsole, name: str, cmd: str, **args: Any) -> Any:
    """Give an order at T01, about what its state shows."""
    state = console.tables.snapshot("T01").state
    assert state is not None
    about = {"deal": state.match.deal, "attempt": state.match.attempt}
    wish = {"id": f"order-{next(NUMBERS):08}", "cmd": cmd, "args": args} | about
    return (await post(console, "/api/tables/T01/do", wish, name))["reply"]


async def test_the_desk_shows_what_waits_and_what_counts(at_desk: Desk) -> None:
    console, _ = at_desk
    found = await get(console, "/api/tables/T01/desk")
    assert [(case["id"], case["state"]) for case in found["cases"]] == [
        ("R1", "decided"),
        ("R2", "decided"),
        ("R3", "proposed"),
    ]
    assert found["whole"]
    east = next(pair for pair in found["counters"] if pair["side"] == "EW")
    assert east["given"]["violation"] == {"deal": 1, "match": 1, "round": 1, "event": 1}
    assert east["given"]["warning"]["round"] == 1  # brought from an earlier match
    assert [one["cards"] for one in found["counts"]] == [27, 27, 27, 27]


async def test_who_asks_is_told_of_what_is_still_on_its_way_to_the_archive(
    at_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    console, tables = at_desk
    late: list[StoredEvent] = []
    monkeypatch.setattr(tables, "archive", SimpleNamespace(keep=late.extend))

    async def settled() -> None:
        console.archive.keep(late)
        late.clear()

    monkeypatch.setattr(tables, "wait_until_stored", settled)
    table = "/api/tables/T01"
    assert (await order(console, "chief", "approve", ruling="R3"))["ok"]
    assert (await get(console, f"{table}/desk"))["cases"][2]["state"] == "decided"
    assert (await order(console, "chief", "hold", reason="a phone rings"))["ok"]
    assert (await order(console, "chief", "resume"))["ok"]
    newest = late[-1].event.n
    assert (await get(console, f"{table}/told"))["told"][-1]["n"] == newest
    assert (await order(console, "chief", "hold", reason="a phone rings"))["ok"]
    newest = late[-1].event.n
    async with console.table_pages.open_page("T01", Role.REFEREE) as (shown, _):
        while "told" not in (parts := shown.changes_since(0)[1]):
            await shown.wait_for_change(shown.changes_since(0)[0])
    assert msgspec.json.decode(parts["told"] or b"")[-1]["n"] == newest


async def test_a_table_without_penalties_still_has_its_counts(at_desk: Desk) -> None:
    console, _ = at_desk
    found = await get(console, "/api/tables/T04/desk")
    assert (found["cases"], found["counters"]) == ([], [])
    assert [one["cards"] for one in found["counts"]] == [13, 13, 13, 13]


async def test_a_rulebook_comes_with_its_ladder_or_without(at_desk: Desk) -> None:
    console, _ = at_desk
    found = await get(console, "/api/rulebooks/international-000")
    assert (found["game"], found["hand"], found["packs"]) == ("guandan", 27, 2)
    assert found["ladder"]["groups"][0]["id"] == "turn"
    big_two = await get(console, "/api/rulebooks/bigtwo-2017-002")
    assert (big_two["game"], big_two["hand"], big_two["ladder"]) == ("bigtwo", 13, None)


async def test_a_charge_is_answered_by_the_table_that_has_the_record(at_desk: Desk) -> None:
    console, _ = at_desk
    charge = {"offence": "other", "seat": "E", "pointed_out_by": "N"}
    found = await get(console, "/api/tables/T01/rulings", **charge)
    assert [one["penalty"] for one in found["choices"]][:3] == ["warning", "violation", "foul"]
    foul = found["choices"][2]
    assert (foul["needs"], foul["article"]) == ("chief", "A15.3.3①")
    assert "East-West loses this deal" in foul["effects"][0][0]


async def test_a_charge_in_words_of_a_query_is_taken_as_it_is_meant(at_desk: Desk) -> None:
    console, _ = at_desk
    charge = {"offence": "other", "seat": "S", "pointed_out_by": "W", "harmed": "true", "deal": "4"}
    found = await get(console, "/api/tables/T01/rulings", **charge)
    assert found["choices"][0]["penalty"] == "foul"  # it harmed: a foul at once (A15.3.3②)


async def test_a_charge_that_is_none_is_refused(at_desk: Desk) -> None:
    console, _ = at_desk
    async with logged_in(console, "ref") as client:
        answer = await client.get("/api/tables/T01/rulings", params={"offence": "other"})
        assert refused(answer)[0] == 400
        answer = await client.get("/api/tables/T99/rulings", params={"offence": "other"})
        assert answer.status_code in (400, 404)


async def test_the_tables_no_is_an_answer(at_desk: Desk) -> None:
    console, _ = at_desk
    found = await get(console, "/api/tables/T01/rulings", offence="nothing_of_it", seat="N")
    assert found["refused"]["en"]
    assert found["refused"]["zh"] != found["refused"]["en"]
    body = {"cmd": "approve", "args": {"ruling": "R9"}}
    found = await post(console, "/api/tables/T01/foresee", body)
    assert found["refused"]["zh"]


async def test_what_a_decision_would_do_is_said_before_it_is_made(at_desk: Desk) -> None:
    console, _ = at_desk
    body = {"cmd": "approve", "args": {"ruling": "R3"}}
    ahead = await post(console, "/api/tables/T01/foresee", body)
    assert ahead["then"]["phase"] == "forfeit"
    reply = await order(console, "chief", "approve", ruling="R3")
    assert reply["ok"]
    state = console.tables.snapshot("T01").state
    assert state is not None
    assert state.match.levels == ahead["then"]["levels"]
    assert state.match.phase == ahead["then"]["phase"]


async def test_a_ruling_goes_from_the_referee_to_the_chief(at_desk: Desk) -> None:
    console, _ = at_desk
    charge = {"offence": "illegal_signal", "seat": "W", "kind": "voice", "pointed_out_by": "S"}
    reply = await order(console, "ref", "propose", **charge, harmed=True)
    assert (reply["ok"], reply["result"]["penalty"]) == (True, "foul")
    name = reply["result"]["ruling"]
    assert not (await order(console, "ref", "approve", ruling=name))["ok"]
    word = await order(console, "ref", "approve", ruling=name, verbal=True, by="Chen")
    assert word["ok"]
    found = await get(console, "/api/tables/T01/desk")
    case = next(case for case in found["cases"] if case["id"] == name)
    assert (case["kind_en"], case["verbal"]) == ("by words, coughing or other sounds", True)
    assert case["confirmed_by"] is None
    assert (await order(console, "chief", "confirm_verbal", ruling=name))["ok"]
    found = await get(console, "/api/tables/T01/desk")
    case = next(case for case in found["cases"] if case["id"] == name)
    assert case["confirmed_by"] == "chief (chief)"


async def test_the_chief_changes_a_ruling(at_desk: Desk) -> None:
    console, _ = at_desk
    reply = await order(console, "chief", "approve", ruling="R3", penalty="warning")
    assert reply["ok"]
    found = await get(console, "/api/tables/T01/desk")
    case = next(case for case in found["cases"] if case["id"] == "R3")
    assert (case["state"], case["penalty"], case["changed_from"][0]) == (
        "decided",
        "warning",
        "foul",
    )


async def test_lost_time_is_proposed(at_desk: Desk) -> None:
    console, _ = at_desk
    found = await get(console, "/api/tables/T05/lost_time")
    assert found["seconds"] == 121


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("transfer", ["moved to another table", "转台"]),
        ("at_table", ["the referee is at the table", "裁判到台处理"]),
        ("misdeal", ["dealt again", "重新发牌"]),
        ("a glass fell over", ["a glass fell over", "a glass fell over"]),
    ],
)
def test_why_a_table_lost_time_is_told_in_both_languages(reason: str, said: list[str]) -> None:
    stop = {"reason": reason, "seconds": 60, "lasts": False}
    told = lost_time_with_reasons({"seconds": 60, "needs": "referee", "stops": [stop]})
    (one,) = told["stops"]
    assert [one["words"].en, one["words"].zh] == said
    assert (one["reason"], told["seconds"]) == (reason, 60)


async def test_a_play_is_judged_and_nonsense_is_told_so(at_desk: Desk) -> None:
    console, _ = at_desk
    question = {"profile": "international-000", "level": "5", "play": {"cards": "KK"}}
    found = await post(console, "/api/judge", question | {"on": {"cards": "99"}})
    assert (found["type"], found["legal"]) == ("ruling", True)
    found = await post(console, "/api/judge", question | {"contained": True})
    assert (found["type"], found["kinds"]) == ("containing", ["single", "pair"])
    found = await post(console, "/api/judge", question | {"play": {"cards": "hello"}})
    assert found["type"] == "nonsense"
    async with logged_in(console, "ref") as client:
        unknown = await client.post("/api/judge", json=question | {"profile": "none"})
        assert refused(unknown)[0] == 404


async def test_who_decides_nothing_may_look_and_ask_the_judge_and_no_more(at_desk: Desk) -> None:
    console, _ = at_desk
    question = {"profile": "international-000", "level": "5", "play": {"cards": "KK"}}
    async with logged_in(console, "obs") as client:
        assert (await client.get("/table/T01/rulings")).status_code == 200
        assert (await client.get("/api/tables/T01/desk")).status_code == 200
        assert (await client.post("/api/judge", json=question)).status_code == 200
        for answer in (
            await client.get("/api/tables/T01/rulings", params={"offence": "other", "seat": "N"}),
            await client.get("/api/tables/T01/lost_time"),
            await client.post("/api/tables/T01/foresee", json={"cmd": "redeal", "args": {}}),
        ):
            assert refused(answer)[0] == 403


async def test_nobody_sees_the_desk_without_a_login(at_desk: Desk) -> None:
    console, _ = at_desk
    async with browser(console) as client:
        assert (await client.get("/api/tables/T01/desk")).status_code == 401
        page = await client.get("/table/T01/rulings")
        assert page.status_code == 303
        assert page.headers["location"].startswith("/login")


async def test_a_table_of_which_nothing_was_heard_has_no_desk(at_desk: Desk) -> None:
    console, _ = at_desk
    async with logged_in(console, "ref") as client:
        assert refused(await client.get("/api/tables/T12/desk"))[0] == 409
        assert refused(await client.get("/api/tables/T99/desk"))[0] == 404
