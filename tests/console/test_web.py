"""Who is let in by the web, what he may, and what another site may not."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from httpx import AsyncClient
from starlette.routing import Route

from controller.console.accounts.login_throttle import FREE_ATTEMPTS_PER_NAME
from controller.console.console import RefereeConsole
from controller.console.routing import SESSION_COOKIE
from controller.console.server import all_routes
from controller.faults import fault_catalogue
from controller.messages import Role
from tests.console.fake import PIN
from tests.console.web import browser, logged_in, refused, standing

ONE_LOOP = pytest.mark.asyncio(loop_scope="module")
"""For tests over the console `unchanged`."""
HOLD = {"id": "order-0001", "cmd": "hold", "args": {"reason": "smoke"}}


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[RefereeConsole]:
    """A console over scripted tables."""
    async with standing(tmp_path) as (console, _):
        yield console


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def unchanged(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RefereeConsole]:
    """A console for tests that change nothing at it."""
    async with standing(tmp_path_factory.mktemp("web")) as (console, _):
        yield console


@pytest.fixture
async def stranger(console: RefereeConsole) -> AsyncIterator[AsyncClient]:
    """The browser of nobody."""
    async with browser(console) as client:
        yield client


async def test_who_logs_in_is_known_until_he_logs_out(stranger: AsyncClient) -> None:
    assert refused(await stranger.get("/api/me")) == (401, "please log in")
    said = await stranger.post("/api/login", json={"name": "ref", "pin": PIN})
    assert said.json() == {"name": "ref", "role": "referee", "language": "zh", "table": None}
    assert (await stranger.get("/api/me")).json()["name"] == "ref"
    token = stranger.cookies[SESSION_COOKIE]
    await stranger.post("/api/logout")
    assert SESSION_COOKIE not in stranger.cookies
    stranger.cookies.set(SESSION_COOKIE, token)  # who has copied the cookie is out, too
    assert refused(await stranger.get("/api/me"))[0] == 401


async def test_the_cookie_is_neither_read_by_a_script_nor_sent_by_another_site(
    stranger: AsyncClient,
) -> None:
    said = await stranger.post("/api/login", json={"name": "ref", "pin": PIN})
    cookie = said.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie  # plain HTTP: it would never come back
    assert PIN not in said.text


@pytest.mark.parametrize(
    ("host", "is_sealed"), [("hall.example", True), ("hall.example:8080", False), ("x", False)]
)
async def test_a_cookie_behind_the_proxy_of_the_public_address_never_goes_out_unsealed(
    console: RefereeConsole, stranger: AsyncClient, host: str, is_sealed: bool
) -> None:
    own = msgspec.structs.replace(console.config.console, public_url="https://hall.example")
    console.config = msgspec.structs.replace(console.config, console=own)
    said = {"name": "ref", "pin": PIN}
    answer = await stranger.post("/api/login", json=said, headers={"Host": host})
    assert ("Secure" in answer.headers["set-cookie"]) is is_sealed


async def test_who_guesses_a_pin_waits(stranger: AsyncClient) -> None:
    for _ in range(FREE_ATTEMPTS_PER_NAME):
        answer = await stranger.post("/api/login", json={"name": "ref", "pin": "0000"})
        assert refused(answer) == (403, "name or PIN is wrong")
    answer = await stranger.post("/api/login", json={"name": "ref", "pin": PIN})
    assert refused(answer)[0] == 403
    assert "wait" in refused(answer)[1]


async def test_nothing_is_changed_without_the_pages_own_header(console: RefereeConsole) -> None:
    async with logged_in(console, "chief") as client:
        del client.headers["X-Dealtable"]
        for path in ("/api/login", "/api/people", "/api/tables/T01/do", "/api/logout"):
            assert refused(await client.post(path, json={}))[0] == 403
        assert (await client.get("/api/me")).status_code == 200


async def test_every_answer_says_that_it_is_kept_and_framed_nowhere(stranger: AsyncClient) -> None:
    for path in ("/api/me", "/login", "/nowhere", "/static/js/dom.mjs"):
        headers = (await stranger.get(path)).headers
        assert headers["content-security-policy"].startswith("default-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    assert (await stranger.get("/api/me")).headers["cache-control"] == "no-store"


async def test_the_verifier_comes_from_where_it_lies_and_nothing_else_there_does(
    stranger: AsyncClient,
) -> None:
    for name in ("hashes", "record", "verify", "rows", "rulebook"):
        found = await stranger.get(f"/static/verify/{name}.mjs")
        assert found.status_code == 200
        assert "javascript" in found.headers["content-type"]
    for path in ("lock.py", "PROOF.md", "../commands.py", "%2e%2e/commands.py"):
        assert (await stranger.get(f"/static/verify/{path}")).status_code == 404


@pytest.mark.parametrize("path", ["/api/nothing", "/nothing", "/static/nothing.css"])
@ONE_LOOP
async def test_what_is_not_there_is_said_in_both_languages(
    unchanged: RefereeConsole, path: str
) -> None:
    async with browser(unchanged) as stranger:
        assert refused(await stranger.get(path)) == (404, "there is no such page")


@pytest.mark.parametrize(
    "path", ["/nope", "/table/T99", "/table/T99/rulings", "/table/T99/sheet", "/display/T99"]
)
@ONE_LOOP
async def test_a_browser_gets_a_page_where_there_is_nothing(
    unchanged: RefereeConsole, path: str
) -> None:
    async with logged_in(unchanged, "ref") as client:
        answer = await client.get(path, headers={"Accept": "text/html,*/*"})
    assert (answer.status_code, answer.headers["content-type"][:9]) == (404, "text/html")
    assert "/static/js/missing.mjs" in answer.text


def paths() -> list[tuple[str, str]]:
    """Every route below /api and /stream, but the few that are meant for everybody."""
    public = {
        "/api/login",
        "/api/logout",
        "/api/accept",
        "/api/tables/{id}/proof/{attempt}",
        "/api/proof/rulebooks",
    }
    return [
        (method, route.path)
        for route in all_routes()
        if isinstance(route, Route) and route.path.startswith(("/api/", "/stream/"))
        for method in sorted((route.methods or set()) - {"HEAD"})
        if route.path not in public
    ]


async def test_nothing_is_told_to_who_is_not_logged_in(stranger: AsyncClient) -> None:
    told = []
    for method, path in paths():
        asked = re.sub(r"{(id|area|act|match|attempt|table|profile)}", "T01", path)
        answer = await stranger.request(method, asked)
        if answer.status_code != 401:
            told.append((method, path))
    assert told == []


@pytest.mark.parametrize("path", ["/", "/wall", "/chief", "/table/T01", "/setup"])
@ONE_LOOP
async def test_who_is_not_logged_in_is_sent_to_log_in_and_back(
    unchanged: RefereeConsole, path: str
) -> None:
    async with browser(unchanged) as stranger:
        answer = await stranger.get(path)
        assert answer.status_code == 303
        assert answer.headers["location"] == f"/login?next={path}"


@pytest.mark.parametrize(
    ("name", "method", "path", "body"),
    [
        ("obs", "POST", "/api/tables/T01/do", HOLD),
        ("obs", "POST", "/api/tables/T01/take", {}),
        ("obs", "POST", "/api/people", {"name": "X", "role": "observer"}),
        ("ref", "POST", "/api/people", {"name": "X", "role": "observer"}),
        ("ref", "DELETE", "/api/people", {"name": "obs"}),
        ("ref", "POST", "/api/tables/T01/do", HOLD | {"cmd": "open_hand"}),
        ("tech", "POST", "/api/tables/T01/do", HOLD),
        ("t01", "GET", "/stream/hall", None),
        ("t01", "GET", "/stream/table/T01", None),
        ("t01", "GET", "/stream/display/T02", None),
        ("t01", "GET", "/api/tables/T01/told", None),
        ("t01", "POST", "/api/tables/T02/do", HOLD | {"cmd": "confirm", "args": {}}),
        ("t01", "POST", "/api/tables/T01/do", HOLD),
    ],
)
@ONE_LOOP
async def test_what_a_role_may_not_is_refused(
    unchanged: RefereeConsole, name: str, method: str, path: str, body: Any
) -> None:
    async with logged_in(unchanged, name) as client:
        assert refused(await client.request(method, path, json=body))[0] == 403


async def test_a_refusal_of_a_role_is_in_the_words_of_a_hall(console: RefereeConsole) -> None:
    async with logged_in(console, "obs") as client:
        said = (await client.get("/api/people")).json()["error"]
    assert said["en"] == "not allowed for an observer, only for: the chief referee, a technician"
    assert said["zh"] == "“观摩”无此权限，限：“裁判长”、“技术员”"


@pytest.mark.virtual
async def test_an_order_is_answered_as_the_table_answers(console: RefereeConsole) -> None:
    async with logged_in(console, "ref") as client:
        said = await client.post("/api/tables/T01/do", json=HOLD)
        assert said.json()["reply"]["ok"]
        again = await client.post("/api/tables/T01/do", json=HOLD)
        assert again.json() == said.json()
        other = await client.post("/api/tables/T01/do", json=HOLD | {"cmd": "resume"})
        assert refused(other)[0] == 409


@pytest.mark.virtual
async def test_an_order_without_an_answer_is_unknown(console: RefereeConsole) -> None:
    async with logged_in(console, "ref") as client:
        wish = HOLD | {"cmd": "stop_deal"}
        said = await client.post("/api/tables/T01/do", json=wish)
        assert said.json()["unknown"] is True


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"id": "x"}', b'{"id": "order-0001", "cmd": "hold", "sig": "1"}']
)
@ONE_LOOP
async def test_what_is_not_understood_is_refused_in_one_line(
    unchanged: RefereeConsole, body: bytes
) -> None:
    async with logged_in(unchanged, "ref") as client:
        status, said = refused(await client.post("/api/tables/T01/do", content=body))
        assert status == 400
        assert "\n" not in said


async def test_a_body_without_end_is_cut_off(console: RefereeConsole) -> None:
    async with logged_in(console, "ref") as client:
        answer = await client.post("/api/tables/T01/do", content=b"x" * (1 << 21))
        assert refused(answer)[0] == 413


@pytest.mark.virtual
async def test_two_who_go_to_a_table_do_not_both_think_so(console: RefereeConsole) -> None:
    async with logged_in(console, "ref") as one, logged_in(console, "ref2") as two:
        assert (await one.post("/api/tables/T02/take", json={"over": None})).status_code == 200
        late = await two.post("/api/tables/T02/take", json={"over": None})
        assert refused(late) == (409, "ref is already on the way")
        relieved = await two.post("/api/tables/T02/take", json={"over": "ref"})
        assert relieved.json() == {"taken_by": "ref2"}
        assert (await two.post("/api/tables/T02/leave", json={})).json() == {"taken_by": None}
        assert (await one.post("/api/tables/T02/take", json={})).status_code == 200


@pytest.mark.parametrize(("name", "may"), [("ref2", False), ("tech", False), ("chief", True)])
async def test_nobody_but_the_chief_says_that_another_goes_no_more(
    console: RefereeConsole, name: str, may: bool
) -> None:
    """Else a table that nobody goes to looked as if nobody had ever gone, and none was told."""
    async with logged_in(console, "ref") as one, logged_in(console, name) as two:
        await one.post("/api/tables/T02/take", json={})
        said = await two.post("/api/tables/T02/leave", json={})
        if may:
            assert said.json() == {"taken_by": None}
        else:
            assert refused(said)[0] == 403
            assert "ref is on the way" in refused(said)[1]
        assert console.call_assignments.assigned_to("T02") == (None if may else "ref")
        assert (await one.post("/api/tables/T02/leave", json={})).json() == {"taken_by": None}


@pytest.mark.parametrize("how", ["removed", "observer", "technician"])
async def test_nobody_waits_for_somebody_who_may_come_no_more(
    console: RefereeConsole, how: str
) -> None:
    async with logged_in(console, "ref") as ref, logged_in(console, "chief") as chief:
        await ref.post("/api/tables/T02/take", json={})
        if how == "removed":
            said = await chief.request("DELETE", "/api/people", json={"name": "ref"})
        else:
            said = await chief.post("/api/people", json={"name": "ref", "role": how})
        assert said.status_code == 200
    assert console.call_assignments.assigned_to("T02") == ("ref" if how == "technician" else None)


async def test_who_logs_in_anew_ends_the_session_that_his_browser_had(
    console: RefereeConsole, stranger: AsyncClient
) -> None:
    async with logged_in(console, "obs") as client:
        stranger.cookies.set(SESSION_COOKIE, client.cookies[SESSION_COOKIE])  # somebody copied it
        wrong = await client.post("/api/login", json={"name": "ref", "pin": "0000"})
        assert refused(wrong)[0] == 403
        assert (await stranger.get("/api/me")).json()["name"] == "obs"
        await client.post("/api/login", json={"name": "ref", "pin": PIN})
        assert (await client.get("/api/me")).json()["name"] == "ref"
        assert refused(await stranger.get("/api/me"))[0] == 401


async def test_who_is_invited_chooses_a_pin_and_is_in(
    console: RefereeConsole, stranger: AsyncClient
) -> None:
    async with logged_in(console, "chief") as chief:
        said = await chief.post("/api/people", json={"name": "李娜", "role": "referee"})
        code = said.json()["code"]
        accepted = await stranger.post("/api/accept", json={"code": code, "pin": "4711"})
        assert accepted.json()["role"] == "referee"
        assert (await stranger.get("/api/me")).json()["name"] == "李娜"
        await chief.request("DELETE", "/api/people", json={"name": "李娜"})
        assert refused(await stranger.get("/api/me"))[0] == 401


@pytest.mark.parametrize(
    "said",
    [
        {"name": "X", "role": "table"},
        {"name": "X", "role": "table", "table": "T99"},
        {"name": "X", "role": "referee", "table": "T01"},
        {"name": "X (Y)", "role": "referee"},
        {"name": "", "role": "referee"},
        {"name": "X", "role": "king"},
    ],
)
@ONE_LOOP
async def test_an_invitation_that_is_none_is_refused(
    unchanged: RefereeConsole, said: dict[str, str]
) -> None:
    async with logged_in(unchanged, "chief") as chief:
        assert refused(await chief.post("/api/people", json=said))[0] == 400


async def test_a_technician_makes_nobody_a_chief_and_takes_no_chiefs_place(
    console: RefereeConsole,
) -> None:
    async with logged_in(console, "tech") as tech:
        for said in ({"name": "tech2", "role": "chief"}, {"name": "chief", "role": "observer"}):
            assert refused(await tech.post("/api/people", json=said))[0] == 403
        gone = await tech.request("DELETE", "/api/people", json={"name": "chief"})
        assert refused(gone)[0] == 403
        one = await tech.post("/api/people", json={"name": "new", "role": "referee"})
        assert one.status_code == 200
        itself = await tech.request("DELETE", "/api/people", json={"name": "tech"})
        assert refused(itself)[0] == 400


async def test_a_language_is_remembered(console: RefereeConsole) -> None:
    async with logged_in(console, "ref") as client:
        await client.post("/api/me", json={"language": "en"})
        assert (await client.get("/api/me")).json()["language"] == "en"
        assert refused(await client.post("/api/me", json={"language": "fr"}))[0] == 400
    async with logged_in(console, "ref") as again:
        assert (await again.get("/api/me")).json()["language"] == "en"


async def test_a_display_sees_its_own_page_and_no_other(console: RefereeConsole) -> None:
    async with logged_in(console, "t01") as display:
        assert (await display.get("/api/me")).json()["table"] == "T01"
        for path in ("/", "/table/T01", "/chief"):
            assert (await display.get(path)).headers["location"] == "/display/T01"
        said = {"id": "order-0001", "cmd": "confirm", "args": {"seat": "N"}}
        answer = await display.post("/api/tables/T01/do", json=said)
        assert answer.json()["reply"]["ok"]


async def test_the_journal_of_a_table_is_read_before_a_number(console: RefereeConsole) -> None:
    async with logged_in(console, "obs") as client:
        read = (await client.get("/api/tables/T01/told", params={"before": "3"})).json()
        assert [one["n"] for one in read["told"]] == [1, 2]
        for before in ("-1", "x", "1" * 30):
            answer = await client.get("/api/tables/T01/told", params={"before": before})
            assert refused(answer)[0] == 400
        assert refused(await client.get("/api/tables/T99/told"))[0] == 404


async def test_every_fault_is_told_in_words(console: RefereeConsole) -> None:
    async with logged_in(console, "obs") as client:
        faults = (await client.get("/api/faults")).json()
    assert faults.keys() == fault_catalogue().keys()
    assert faults["COUNT_WRONG"] == {
        "en": "A hand had a wrong number of cards: the hands are dealt again",
        "zh": "张数不符，重新发牌",
    }


async def test_all_that_can_be_ordered_is_listed_with_words(console: RefereeConsole) -> None:
    async with logged_in(console, "obs") as client:
        every = (await client.get("/api/commands")).json()
    assert every["release"]["roles"] == [Role.REFEREE, Role.CHIEF]
    assert every["release"]["label_zh"] == "放行"
