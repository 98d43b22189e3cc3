"""A word that nobody gave, gave for something else, or gave before he was promised anything."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from nacl.signing import SigningKey

import controller.machine.panel_control
from controller.commands.registry import COMMANDS, PANEL_KEY
from controller.journal.verify import command_effects, command_signatures, verify
from controller.machine.commands.command_events import EVENT_MAKERS
from controller.messages import Role
from controller.signing import canonical_json
from controller.signing.signed_commands import sign_document
from sim.tables.table_in_process import TableInProcess
from tests.cheats.changed import VICTIM, Evening, said
from tests.cheats.evenings import (
    A_LOOK_S,
    A_VOID_BETWEEN,
    AHEAD,
    CUT,
    LOOKED_AT,
    THREE_DEALS,
    TWO_MATCHES,
    UNCUT_FIRST,
)
from tests.cheats.honest_sessions import HonestSessions
from tests.cheats.rows import SOMEBODY, Change, Rows, changed, of, order
from tests.journal.scripted import ScriptedTable, write_journal
from tests.machine.deals_ahead import deal_one_played
from tests.machine.stages import all_press, ordered

pytestmark = [pytest.mark.virtual, pytest.mark.slow]
STALE = "an old command was used again"
AGAIN = "no person ordered a redeal"


async def _redealt(at: TableInProcess) -> None:
    await deal_one_played(at)
    await all_press(at, at.states[-1].match.leader or "")
    await ordered(at, Role.CHIEF, "redeal", reason="a card lay open")
    await asyncio.sleep(A_LOOK_S)


REDEALT = Evening(name="a deal that the chief has dealt again", people=_redealt, options=AHEAD)


class Lie(NamedTuple):
    """What is changed in the rows of an evening, and what is said of it then."""

    name: str
    evening: Evening
    change: Change
    found: str
    on_feed: bool


def cut_before_the_promise(rows: Rows) -> None:
    """Let the order for the cut stand before the seed was drawn."""
    word = of(rows, "command", VICTIM, cmd="cut")
    rows.remove(word)
    rows.insert(rows.index(of(rows, "seed", VICTIM)), word)


def cut_after_all(rows: Rows) -> None:
    """Let the order for the cut come when the set is shuffled."""
    word = of(rows, "command", VICTIM, cmd="cut")
    rows.remove(word)
    rows.insert(rows.index(of(rows, "shuffled", VICTIM)), word)


def cut_of_another_attempt(rows: Rows) -> None:
    """Take a cut that was ordered of attempt 1, and refused there, for attempt 2."""
    word = of(rows, "command", VICTIM, cmd="cut")
    number = {"args": {"n": CUT}, "result": {"cut": CUT}}
    word["data"] = order(word, "cut", [1, 1], role="table", **number)["data"]


def cut_of_another_run(rows: Rows) -> None:
    """Take a cut that was ordered of this attempt in an earlier run of the daemon."""
    word = of(rows, "command", VICTIM, cmd="cut")
    number = {"args": {"n": CUT}, "result": {"cut": CUT}}
    other = order(word, "cut", [word["deal"], VICTIM], role="table", boot="0badb007", **number)
    word["data"] = other["data"]


def cut_twice(rows: Rows) -> None:
    """Have two people cut."""
    word = of(rows, "command", VICTIM, cmd="cut")
    number = {"args": {"n": CUT}, "result": {"cut": CUT}}
    again = order(word, "cut", [word["deal"], VICTIM], role="table", **number)
    rows.insert(rows.index(word), again)


def dropped(attempt: int | None, **data: Any) -> Change:
    """Return what takes an order away."""
    return lambda rows: rows.remove(of(rows, "command", attempt, **data))


def pressed(cmd: str) -> Change:
    """Return what says that a button gave an order."""

    def change(rows: Rows) -> None:
        data = of(rows, "command", cmd=cmd)["data"]
        for name in ("sig", "of", "args", "boot"):
            data.pop(name, None)
        data.update(key=PANEL_KEY, who=PANEL_KEY, role="table")

    return change


def voided(**more: Any) -> Change:
    """Return what says that the attempt that a lid ended was voided, by an order like this."""

    def change(rows: Rows) -> None:
        verdict = of(rows, "verdict", VICTIM)
        verdict["data"]["reasons"] = ["ORDERED"]
        word = order(verdict, "void", more.get("of", [2, VICTIM]), role=more.get("role", "chief"))
        word["data"].update(more.get("data", {}))
        rows.insert(rows.index(verdict) + more.get("behind", 0), word)

    return change


def unsigned(rows: Rows) -> None:
    """Take every signature away."""
    for row in rows:
        if row["kind"] == "command":
            row["data"].pop("sig", None)


def arguments_as_text(rows: Rows) -> None:
    """Put the arguments of an order that acted out of sight, as those of a refused one may be."""
    data = of(rows, "command", VICTIM, cmd="cut")["data"]
    data["args"] = canonical_json(data["args"]).decode()


def given_by(role: str, **data: Any) -> Change:
    """Return what says that another role gave an order."""
    return lambda rows: of(rows, "command", **data)["data"].update(role=role)


def redealt_for_another_attempt(rows: Rows) -> None:
    """Take an order to deal attempt 7 again for the one that is out."""
    word = of(rows, "command", cmd="redeal")
    word["data"] = order(word, "redeal", [1, 7], role="chief", args=word["data"]["args"])["data"]


BEFORE = f"cut for attempt {VICTIM} comes before its commitment"
LIES = (
    Lie("a cut before the promise", THREE_DEALS, cut_before_the_promise, BEFORE, True),
    Lie("a cut behind the cut", THREE_DEALS, cut_after_all, "comes after its cut", True),
    Lie("a cut for another attempt", THREE_DEALS, cut_of_another_attempt, STALE, True),
    Lie("a cut for another run", THREE_DEALS, cut_of_another_run, STALE, True),
    Lie("two cuts", THREE_DEALS, cut_twice, "was cut by the order of entry", True),
    Lie("no cut", THREE_DEALS, dropped(VICTIM, cmd="cut"), f"no command cut {CUT}", False),
    Lie(
        "no release",
        THREE_DEALS,
        dropped(VICTIM, cmd="release"),
        "released without a command",
        False,
    ),
    Lie("no signature", THREE_DEALS, unsigned, "release has no signature", True),
    Lie("arguments as text", THREE_DEALS, arguments_as_text, "does not bear the sig", True),
    Lie("a cut by a watcher", THREE_DEALS, given_by("observer", cmd="cut"), "not for the", True),
    Lie("uncut by nobody", UNCUT_FIRST, dropped(None, cmd="start_deal"), "without a cut", False),
    Lie("uncut by a button", UNCUT_FIRST, pressed("start_deal"), "no button gives start", True),
    Lie("a void by nobody", A_VOID_BETWEEN, voided(data={"refused": "POWER"}), AGAIN, False),
    Lie("a void for another attempt", A_VOID_BETWEEN, voided(of=[1, 1]), STALE, True),
    Lie("a void by a button", A_VOID_BETWEEN, voided(data={"key": PANEL_KEY}), "no button", True),
    Lie("a void by a referee", A_VOID_BETWEEN, voided(role="referee"), "not for the role", True),
    Lie("a void behind the end", A_VOID_BETWEEN, voided(behind=3), AGAIN, False),
    Lie("a redeal by nobody", REDEALT, dropped(None, cmd="redeal"), AGAIN, False),
    Lie("a redeal of another attempt", REDEALT, redealt_for_another_attempt, AGAIN, False),
    Lie(
        "a match begun by nobody",
        REDEALT,
        dropped(None, cmd="start_match"),
        "Started is here",
        False,
    ),
    Lie("a sheet signed by nobody", TWO_MATCHES, dropped(None, cmd="sign"), "Signed is", False),
    Lie("a look by nobody", LOOKED_AT, dropped(None, cmd="open_hand"), "opened_hand is", False),
)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
async def test_a_word_that_is_none_is_found(
    lie: Lie, honest: HonestSessions, tmp_path: Path
) -> None:
    left = await honest.spend(lie.evening)
    assert (said(left.journal()), said(left.feed())) == ("", "")
    journal, feed = changed(tmp_path, lie.change)
    assert journal.findings
    assert lie.found in said(journal)
    assert lie.found in said(feed) if lie.on_feed else not said(feed)


async def test_a_word_for_what_is_right_is_no_finding(
    honest: HonestSessions, tmp_path: Path
) -> None:
    """The control: the same order, signed by somebody for the attempt that it ended."""
    await honest.spend(A_VOID_BETWEEN)
    journal, feed = changed(tmp_path, voided(of=_of_the_void(tmp_path)))
    assert (said(journal), said(feed)) == ("", "")


async def test_a_match_whose_document_no_table_signed_is_found(tmp_path: Path) -> None:
    digest = "ab" * 32
    key = bytes(SigningKey(SOMEBODY).verify_key).hex()

    def comes(sig: str) -> Callable[[ScriptedTable], None]:
        came: dict[str, Any] = {
            "match": "cup/2",
            "table": "T02",
            "n": 9,
            "head": "00" * 32,
            "events": 0,
        }
        came |= {"digest": digest, "verify": key, "sig": sig, "proofs": [], "by": "chief"}
        return lambda table: table.write("taken_over", **came, at_ms=1)

    for sig, found in [(sign_document(digest, SOMEBODY), ""), ("cd" * 64, "made up, or changed")]:
        folder = tmp_path / (found[:4] or "signed")
        folder.mkdir()
        await write_journal(folder, comes(sig))
        assert found in said(verify(folder))
        assert bool(found) is bool(said(verify(folder)))


def test_what_verify_holds_orders_against_is_what_the_machine_does() -> None:
    front = Path(controller.machine.panel_control.__file__).read_text(encoding="utf-8")
    assert set(re.findall(r'press\(\s*"(\w+)"', front)) == command_signatures.BUTTON_COMMANDS
    given = {cmd for words in command_effects.COMMANDS_OF_EVENT.values() for cmd in words}
    assert given <= set(COMMANDS)
    assert given <= set(EVENT_MAKERS)


def _of_the_void(folder: Path) -> list[int]:
    found: list[int] = []

    def look(rows: Rows) -> None:
        verdict = of(rows, "verdict", VICTIM)
        found.extend([verdict["deal"], verdict["attempt"]])

    changed(folder, look)
    return found
