"""A table as people run it: boards, daemon, watchers and orders, each a program of its own."""

import json
import signal
from pathlib import Path

from controller.cards import FACE_COUNT, face_text
from sim.tables.table_processes import TableProcess
from tests.processes.program import Dealtable, Start

FACE_TEXTS = {face_text(face) for face in range(FACE_COUNT)}
MARKS = str.maketrans(dict.fromkeys("\"'[]{}(),.:;=", " "))


def faces_in(text: str) -> set[str]:
    """Return the faces that stand in a text as words of their own."""
    return set(text.translate(MARKS).split()) & FACE_TEXTS


def test_faces_are_found_wherever_they_stand() -> None:
    assert faces_in('{"turned_up":"♠A","data":["BJ"]} ♥10, 10') == {"♠A", "BJ", "♥10"}


async def test_a_deal_goes_from_start_to_reveal_by_orders_and_is_seen_by_watchers(
    table: TableProcess, start: Start, dealtable: Dealtable, tmp_path: Path
) -> None:
    here = ("--state-dir", table.state_dir)

    async def send(*words: str) -> None:
        sent = await dealtable("send", *words, *here)
        assert (sent.code, sent.err) == (0, "")

    seen = await start("watch", *here)
    raw = await start("watch", "--json", *here)
    await seen.line("empty")
    await raw.line('"phase":"empty"')
    await send("start_deal", "--as", "referee")
    await seen.line("committed")
    await send("cut", "n=40", "--as", "table")
    await seen.line("deal 1 attempt 1: ok")
    held = (await table.control.request("truth"))["pockets"]
    assert [len(cards) for cards in held] == [27, 27, 27, 27, 0]
    await send("release", "--as", "referee")
    await seen.line("released")
    await table.control.request("take_hands")
    await table.control.request("load")
    revealed = json.loads(await raw.line('"kind":"revealed"'))
    released = json.loads(await raw.line('"kind":"released"'))
    assert revealed["data"]["cut"] == 40
    ended = [await program.end(signal.SIGINT) for program in (seen, raw)]

    assert [(one.code, one.err) for one in ended] == [(0, ""), (0, "")]
    leader = "NWSE".index(released["data"]["leader"])
    turned_up = released["data"]["turned_up"]
    assert turned_up in {face_text(card["face"]) for card in held[leader]}
    assert faces_in(ended[0].out) <= {turned_up}
    assert faces_in(ended[1].out) == {turned_up}
    kept = tmp_path / "kept.jsonl"
    kept.write_text(ended[1].out)
    for what in (table.state_dir, kept):
        checked = await dealtable("verify", what)
        assert (checked.code, checked.err) == (0, "")
        assert "grade hands: sequence (every gate) and opened hands hold" in checked.out
