"""The proof of a deal for anybody: what is served, when, and that it can be checked from that."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from httpx import AsyncClient

from controller.console.console import RefereeConsole
from controller.console.server import make_app
from controller.console.store.archive import JournalMark, StoredEvent, WriteBatch
from controller.console.store.match_records import PROOF_KINDS, AttemptRecords
from controller.console.view.proof_page import qr_code_svg, rulebooks_by_hash
from controller.deal import __path__ as VERIFIER
from controller.journal.verify import verify
from controller.messages import PublicEvent
from controller.rules.profile_files import load_profile
from controller.rules.regulations_page import profile_hash
from tests.console.evening import TABLE, Rows, evening, of
from tests.console.papers import archived
from tests.console.states import state
from tests.console.web import browser, logged_in, refused, standing
from tests.proof.browser import Browser

PLACE = f"/proof/{TABLE}"
LAST = 3
"""The attempt of M2, whose match is not over."""


@pytest.fixture(scope="module")
def rows() -> Rows:
    """Everything that a table said of two matches."""
    return evening()[0]


@pytest.fixture(scope="module")
def engine() -> Browser:
    """What a telephone checks with."""
    return Browser()


@pytest.fixture
async def console(tmp_path: Path, rows: Rows) -> AsyncIterator[RefereeConsole]:
    """A console that has kept them; the table is gone."""
    async with standing(tmp_path) as (console, _):
        archived(console, rows)
        yield console


@pytest.fixture
async def anybody(console: RefereeConsole) -> AsyncIterator[AsyncClient]:
    """The telephone of somebody in the hall."""
    async with browser(console) as client:
        yield client


async def served(client: AsyncClient, attempt: int, table: str = TABLE) -> dict[str, Any]:
    answer = await client.get(f"/api/tables/{table}/proof/{attempt}")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    found: dict[str, Any] = answer.json()
    return found


def checked(engine: Browser, view: dict[str, Any]) -> tuple[str | None, list[str]]:
    """Return the grade of the attempt and all findings, as the page has them."""
    report = engine.check(view["events"], ["international-000"])
    (own,) = (one for one in report["attempts"] if one["attempt"] == view["attempt"])
    return own["grade"], [*own["findings"], *report["findings"]]


# What is served, and when.


async def test_what_is_served_proves_the_deal_without_login(
    anybody: AsyncClient, engine: Browser
) -> None:
    for attempt in (1, 2):
        view = await served(anybody, attempt)
        assert (view["standing"], view["over"], view["match"]) == ("revealed", True, "M1")
        assert checked(engine, view) == ("hands", [])


async def test_a_deal_that_is_not_opened_yet_proves_its_sequence(
    anybody: AsyncClient, engine: Browser
) -> None:
    view = await served(anybody, LAST)
    assert (view["standing"], view["over"]) == ("revealed", False)
    assert checked(engine, view) == ("sequence", [])


async def test_before_it_is_revealed_nothing_is_served_to_anybody(
    tmp_path: Path, rows: Rows
) -> None:
    end = of(rows, "revealed", 2)["n"]
    async with standing(tmp_path) as (console, _):
        archived(console, [row for row in rows if row["n"] < end])
        async with browser(console) as stranger, logged_in(console, "chief") as chief:
            for client in (stranger, chief):
                assert await served(client, 2) == {
                    "table": TABLE,
                    "attempt": 2,
                    "standing": "later",
                    "over": False,
                    "match": None,
                    "events": [],
                    "heads": [],
                    "rulebooks": [],
                }
            assert (await served(stranger, 99))["standing"] == "unknown"
            assert refused(await stranger.get(f"/api/tables/{TABLE}/proof/x"))[0] == 404


async def test_an_attempt_that_was_sealed_to_the_chief_says_so(tmp_path: Path, rows: Rows) -> None:
    shut = of(rows, "revealed", 2) | {"kind": "sealed_to_chief", "data": {"box": "00"}}
    until = [row for row in rows if row["n"] < shut["n"]]
    async with standing(tmp_path) as (console, _):
        archived(console, [*until, shut])
        async with browser(console) as stranger:
            assert (await served(stranger, 2))["standing"] == "sealed"


async def test_the_rulebook_is_served_as_its_two_texts(anybody: AsyncClient, rows: Rows) -> None:
    (book,) = (await served(anybody, 1))["rulebooks"]
    named = of(rows, "committed", 1)["data"]["profile_hash"]
    assert profile_hash(load_profile("international-000")).hex() == named
    asked = {"hash": [named, "0" * 64, named]}
    found = await anybody.get("/api/proof/rulebooks", params=asked)
    assert found.json() == {"rulebooks": [book]}
    assert set(rulebooks_by_hash([load_profile("international-000")])) == {named}


async def test_every_row_between_commitment_and_reveal_is_there(
    anybody: AsyncClient, rows: Rows
) -> None:
    view = await served(anybody, 1)
    numbers = {row["n"] for row in view["events"]}
    first, last = of(rows, "committed", 1)["n"], of(rows, "revealed", 1)["n"]
    assert {row["n"] for row in rows if first <= row["n"] <= last} <= numbers
    assert of(rows, "record", 1)["n"] in numbers
    assert len(numbers) < len(rows) / 2
    assert all(row in rows for row in view["events"])


# What a cheat would look like.


@pytest.mark.parametrize(
    ("kind", "change", "found"),
    [
        ("revealed", {"seed": "00" * 32}, "its seed does not give its commitment"),
        ("revealed", {"cut": 50}, "the players' cut did not go into it"),
        ("committed", {"commitment": "00" * 32}, "its seed does not give its commitment"),
        ("held", {"hands": "00" * 32}, "these are not the bound hands"),
        ("record", {"nonce": "00" * 32}, "these are not the bound hands"),
    ],
)
async def test_an_altered_row_is_found(
    tmp_path: Path, rows: Rows, engine: Browser, kind: str, change: dict[str, Any], found: str
) -> None:
    victim = of(rows, kind, 1)
    bad = victim | {"data": victim["data"] | change}
    async with standing(tmp_path) as (console, _):
        archived(console, [bad if row is victim else row for row in rows])
        async with browser(console) as client:
            _, findings = checked(engine, await served(client, 1))
    assert any(found in one for one in findings)
    assert any("its head does not follow from its text" in one for one in findings)


async def test_two_pasts_of_a_table_are_both_served(
    tmp_path: Path, rows: Rows, engine: Browser
) -> None:
    victim = of(rows, "revealed", 1)
    other = victim | {"head": "ab" * 32, "data": victim["data"] | {"cut": 50}}
    async with standing(tmp_path) as (console, _):
        archived(console, [*rows, other])
        async with browser(console) as client:
            _, findings = checked(engine, await served(client, 1))
    assert any("two events of this number" in one for one in findings)


def test_every_finding_of_the_verifier_has_words() -> None:
    """What it yields is looked through: a new line needs a new word for players."""
    folder = Path(next(iter(VERIFIER)))
    static = Path(str(make_app.__code__.co_filename)).parent / "static"
    signs = (static / "js" / "findings.mjs").read_text(encoding="utf-8")
    patterns = [re.compile(one) for one in re.findall(r"^  \[/(.*)/, \"", signs, re.MULTILINE)]
    assert len(patterns) > 10
    plain = re.compile(r'yield "([^"]+)"')
    unsaid = [
        text
        for file in ("verify.mjs", "record.mjs", "rulebook.mjs")
        for text in plain.findall((folder / file).read_text(encoding="utf-8"))
        if not any(pattern.search(text) for pattern in patterns)
    ]
    assert unsaid == ["its record has no events, or no key", "its record has not so many events"]


# The code to scan.


async def test_the_code_is_there_once_the_match_is_over(
    console: RefereeConsole, anybody: AsyncClient
) -> None:
    answer = await anybody.get("/qr.svg", params={"text": f"{PLACE}/1"})
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.text == qr_code_svg(f"http://console{PLACE}/1")
    assert refused(await anybody.get("/qr.svg", params={"text": f"{PLACE}/{LAST}"})) == (
        404,
        "after the match",
    )


async def test_the_code_leads_where_the_configuration_says(
    console: RefereeConsole, anybody: AsyncClient
) -> None:
    own = msgspec.structs.replace(console.config.console, public_url="http://192.168.1.5:8080/")
    console.config = msgspec.structs.replace(console.config, console=own)
    answer = await anybody.get("/qr.svg", params={"text": f"{PLACE}/1"})
    assert answer.text == qr_code_svg(f"http://192.168.1.5:8080{PLACE}/1")


@pytest.mark.parametrize(
    "text", ["", "/", "/proof/T21", "http://evil/proof/T21/1", "/proof/T21/1?x", "/proof/T21/99"]
)
async def test_there_is_no_code_of_anything_else(anybody: AsyncClient, text: str) -> None:
    assert refused(await anybody.get("/qr.svg", params={"text": text}))[0] == 404


@pytest.mark.parametrize(("verdict", "over"), [(None, False), ("passed_a", True)])
async def test_whether_a_match_is_over_its_table_says_while_it_has_it(
    tmp_path: Path, rows: Rows, verdict: str | None, over: bool
) -> None:
    said = verdict and {"winner": "NS", "how": verdict, "how_en": "", "how_zh": ""}
    async with standing(tmp_path) as (console, tables):
        archived(console, [row | {"table": "T01"} for row in rows])
        tables.say("T01", state(table="T01", match={"match": "M1", "verdict": said}))
        async with browser(console) as client:
            assert (await served(client, 1, "T01"))["over"] is over


def test_a_code_is_black_on_white_with_a_quiet_zone() -> None:
    drawn = qr_code_svg("http://192.168.1.5:8080/proof/T01/12")
    assert drawn.startswith("<svg")
    assert "#fff" in drawn
    assert "#000" in drawn
    assert "currentColor" not in drawn


# The record of a match.


async def test_the_record_of_a_match_is_what_dealtable_verify_takes(
    console: RefereeConsole, tmp_path: Path
) -> None:
    async with logged_in(console, "obs") as client:
        answer = await client.get(f"/api/tables/{TABLE}/record/M1")
        assert refused(await client.get(f"/api/tables/{TABLE}/record/M9"))[0] == 404
    file = tmp_path / "events.jsonl"
    file.write_bytes(answer.content)
    report = verify(file)
    assert report.findings == []
    assert [each.attempt for each in report.attempts] == [1, 2]
    assert {each.grade for each in report.attempts} == {"hands"}
    assert 'filename="events-T21_M1.jsonl"' in answer.headers["content-disposition"]


async def test_a_browser_checks_a_whole_match_from_its_record(
    console: RefereeConsole, engine: Browser
) -> None:
    async with logged_in(console, "obs") as client:
        text = (await client.get(f"/api/tables/{TABLE}/record/M1")).text
        listed = (await client.get(f"/api/tables/{TABLE}/attempts/M1")).json()["attempts"]
    report = engine.check([json.loads(line) for line in text.splitlines()], ["international-000"])
    assert report["findings"] == report["missing"] == []
    assert [(one["grade"], one["findings"]) for one in report["attempts"]] == [("hands", [])] * 2
    assert listed == [
        {"deal": 1, "of_deal": 1, "attempt": 1, "revealed": True},
        {"deal": 2, "of_deal": 1, "attempt": 2, "revealed": True},
    ]


async def test_the_record_of_a_match_holds_nothing_of_the_next_one(
    console: RefereeConsole, rows: Rows
) -> None:
    proofs = AttemptRecords(console.engine)
    first = [msgspec.json.decode(row)["n"] for row in proofs.rows_of_match(TABLE, "M1")]
    second = [msgspec.json.decode(row)["n"] for row in proofs.rows_of_match(TABLE, "M2")]
    assert not set(first) & set(second)
    began = next(row["n"] for row in rows if row["kind"] == "meeting")
    assert sorted([*first, *second]) == [row["n"] for row in rows if row["n"] >= began]
    assert proofs.is_over(TABLE, "M1")
    assert not proofs.is_over(TABLE, "M2")
    assert not proofs.is_over(TABLE, "M9")


async def test_a_match_that_is_laid_out_twice_is_one(console: RefereeConsole, rows: Rows) -> None:
    laid = [row for row in rows if row["kind"] == "meeting"]
    again = laid[0] | {"n": laid[0]["n"] + 3, "head": "cd" * 32}
    before = AttemptRecords(console.engine).rows_of_match(TABLE, "M1")
    archived(console, [again])
    after = AttemptRecords(console.engine).rows_of_match(TABLE, "M1")
    assert len(after) == len(before) + 1
    assert set(before) < set(after)


async def test_another_journal_of_the_table_with_the_same_numbers_spoils_no_proof(
    console: RefereeConsole, rows: Rows
) -> None:
    proofs = AttemptRecords(console.engine)
    before = proofs.rows_of_match(TABLE, "M1")
    ours = {"match": "M7"}
    changed = [row | {"head": row["head"][::-1], "data": row["data"] | ours} for row in rows]
    events = [msgspec.convert(row, PublicEvent) for row in changed]
    kept = [StoredEvent(event, msgspec.json.encode(event), journal=2) for event in events]
    console.archive.write([WriteBatch(tuple(kept), {TABLE: JournalMark(99, "f" * 64, journal=2)})])
    assert proofs.rows_of_match(TABLE, "M1") == before
    heads = {event.head for event in events}
    shown = proofs.rows_of_attempt(TABLE, 1)
    assert shown is not None
    assert {msgspec.json.decode(row)["head"] for row in shown.bodies} <= heads
    assert proofs.is_over(TABLE, "M2")


async def test_an_attempt_that_another_journal_tells_otherwise_is_shown_with_both_pasts(
    console: RefereeConsole, rows: Rows
) -> None:
    victim = of(rows, "committed", 1)
    event = msgspec.convert(victim | {"head": "ab" * 32}, PublicEvent)
    kept = StoredEvent(event, msgspec.json.encode(event), journal=2)
    console.archive.write([WriteBatch((kept,), {TABLE: JournalMark(99, "f" * 64, journal=2)})])
    shown = AttemptRecords(console.engine).rows_of_attempt(TABLE, 1)
    assert shown is not None
    heads = [msgspec.json.decode(row)["head"] for row in shown.bodies]
    assert {victim["head"], "ab" * 32} <= set(heads)


def test_the_steps_are_those_of_the_verifier() -> None:
    folder = Path(next(iter(VERIFIER)))
    text = (folder / "record.mjs").read_text(encoding="utf-8")
    listed = re.search(r"export const STEPS = \[(.*?)\]", text, re.DOTALL)
    assert listed is not None
    assert tuple(re.findall(r'"(\w+)"', listed[1])) == PROOF_KINDS
