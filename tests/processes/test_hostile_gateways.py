"""A gateway in other hands, before people's terminals: it ends nothing and steers nothing."""

import asyncio
import itertools
import json
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from controller.cli.bundle_parts import MAX_METRICS_BYTES
from controller.messages import MachinePhase, PublicMachine
from tests.processes.gateway_double import Gateway
from tests.processes.program import Dealtable, Start
from tests.table_doubles import STATE

pytestmark = pytest.mark.slow

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


def state_with(**more: object) -> bytes:
    """T02's state with what no state has."""
    return json.dumps({**json.loads(msgspec.json.encode(STATE)), "table": "T02", **more}).encode()


DEEP = b'{"x":' + b"[" * 3000 + b"]" * 3000 + b"}"
NONSENSE: dict[str, list[bytes]] = {
    "three frames": [b"state/T02", b"{}", b"x"],
    "one frame": [b"state/T02"],
    "a topic that is no text": [b"\xff", b"{}"],
    "deep": [b"state/T02", DEEP],
    "a deep event": [b"event/T02", DEEP],
    "no state": [b"state/T02", b"{}"],
    "no text": [b"state/T02", b'{"table": "\xff"}'],
    "no JSON": [b"event/T02", b"\x1b[2J\nT01  all is well"],
    "JSON on two lines": [b"event/T02", b'{"x": 1,\n"T01": "all is well"}'],
    "a strange head": [b"state/T02", state_with(signed={"n": -5, "head": "x", "sig": "y"})],
    "a number without end": [
        b"state/T02",
        state_with(signed={"n": 9**4000, "head": "", "sig": ""}),
    ],
}


@pytest.mark.parametrize("nonsense", NONSENSE)
@pytest.mark.parametrize("as_json", [False, True], ids=["lines", "json"])
async def test_nonsense_of_one_table_ends_no_watch_of_the_hall(
    honest: Gateway, other: Gateway, start: Start, tmp_path: Path, nonsense: str, as_json: bool
) -> None:
    words = ["--json"] if as_json else []
    where = ("--state-dir", honest.state_dir, "--state-dir", other.state_dir)
    watch = await start("watch", *where, "--heads", tmp_path / "heads.jsonl", *words)
    for gateway in (honest, other):
        await gateway.subscribed()
    for _ in range(3):
        await other.say(*NONSENSE[nonsense])
    await other.state(machine=PublicMachine(phase=MachinePhase.EMPTY, deal=77, attempt=1))
    await watch.line(lambda line: "deal 77" in line or '"deal":77' in line)
    await honest.state()
    await watch.line(lambda line: "T01" in line and "empty" in line)
    ended = await watch.end(signal.SIGINT)
    assert ended.code == 0
    assert "Traceback" not in ended.err
    assert "\x1b" not in ended.out + ended.err
    assert "\nT01  all is well" not in ended.out + ended.err
    if as_json:
        for line in ended.out.splitlines():
            msgspec.json.decode(line)


async def test_the_same_nonsense_is_one_line(other: Gateway, start: Start) -> None:
    watch = await start("watch", "--state-dir", other.state_dir)
    await other.subscribed()
    for _ in range(50):
        await other.say(b"state/T02", b"{}", b"x")
    await other.state()
    await watch.line("empty")
    ended = await watch.end(signal.SIGINT)
    assert ended.out.count("3 frames") == 1


@pytest.mark.parametrize("as_json", [False, True], ids=["lines", "json"])
async def test_no_word_of_a_table_steers_the_terminal_of_who_watches(
    other: Gateway, start: Start, as_json: bool
) -> None:
    watch = await start("watch", "--state-dir", other.state_dir, *(["--json"] if as_json else []))
    await other.subscribed()
    text = f"a{ESCAPES}\nT01  all is well"
    alert = {"name": text, "cause": text, "action": text, "cause_zh": "", "action_zh": ""}
    stopped = {"phase": "empty", "pauses": {text: text}}
    alerts = [{"code": 1, "since": "", **alert}]
    body = state_with(table=text, alerts=alerts, time=text, machine=stopped)
    await other.say(b"state/T02", body)
    await other.state(machine=PublicMachine(phase=MachinePhase.EMPTY, deal=77, attempt=1))
    await watch.line(lambda line: "deal 77" in line or '"deal":77' in line)
    ended = await watch.end(signal.SIGINT)
    for sign in ESCAPES:
        assert sign == "m" or sign.isprintable() or sign not in ended.out + ended.err
    assert "\nT01  all is well" not in ended.out
    if as_json:
        assert msgspec.json.decode(ended.out.splitlines()[0])["table"] == text


def refused(**more: str) -> Callable[[str], bytes]:
    error = {"code": "HOLD", "message": "no", "action": "wait", **more}
    return lambda command_id: json.dumps({"id": command_id, "ok": False, "error": error}).encode()


def deep(levels: int) -> Callable[[str], bytes]:
    def answer(command_id: str) -> bytes:
        inside = b"[" * levels + b"]" * levels
        return b'{"id":"%s","ok":true,"result":{"x":%s}}' % (command_id.encode(), inside)

    return answer


async def test_no_answer_steers_the_terminal_of_who_sends(other: Gateway, start: Start) -> None:
    replies = [
        refused(message=ESCAPES, action=ESCAPES, code=ESCAPES),
        lambda command_id: (
            json.dumps({"id": command_id, "ok": True, "result": {"x": ESCAPES}}, ensure_ascii=False)
            .replace("\x1b", "\\u001b")
            .replace("\x07", "\\u0007")
            .encode()
        ),
    ]
    for reply, words in itertools.product(replies, ([], ["--json"])):
        sent = await start("send", "snapshot", "--state-dir", other.state_dir, *words)
        await other.answer(reply)
        ended = await sent.end()
        shown = ended.out + ended.err
        assert "Traceback" not in shown
        assert all(sign.isprintable() or sign not in shown for sign in ESCAPES)


@pytest.mark.parametrize("levels", [60, 700, 980, 3000])
async def test_a_deep_answer_is_none(other: Gateway, start: Start, levels: int) -> None:
    sent = await start("send", "snapshot", "--json", "--state-dir", other.state_dir)
    await other.answer(deep(levels), deep(2))
    ended = await sent.end()
    assert (ended.code, ended.err) == (0, "")
    taken = 60 if levels < 64 else 2  # the deep one is dropped, and the next one is the answer
    assert ended.out.count("[") == taken


async def test_a_snapshot_that_is_none_is_no_answer(other: Gateway, start: Start) -> None:
    where = ("--as", "table", "--state-dir", other.state_dir)
    sent = await start("send", "cut", "n=40", *where)
    await other.answer(
        lambda command_id: json.dumps(
            {"id": command_id, "ok": True, "result": {"machine": {"deal": "x"}}}
        ).encode()
    )
    ended = await sent.end()
    assert (ended.code, ended.err.count("\n")) == (1, 1)


async def test_a_refusal_is_told_in_chinese_where_the_table_has_it(
    other: Gateway, start: Start
) -> None:
    for reply, said in (
        (refused(message_zh="不行", action_zh="请等待"), "被拒绝，HOLD：不行。请等待。\n"),
        (refused(), "refused, HOLD: no. wait.\n"),
    ):
        sent = await start("send", "snapshot", "--language", "zh", "--state-dir", other.state_dir)
        await other.answer(reply)
        assert (await sent.end()).err == said


# Metrics, which `bundle` asks the gateway for.


@pytest.fixture
async def web() -> AsyncIterator[Callable[[bytes, int], Any]]:
    """Serve the same bytes to everybody, so many times over; gives the port."""
    servers: list[asyncio.Server] = []

    async def serve(said: bytes, times: int = 1) -> int:
        async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            with suppress(ConnectionError):
                for _ in range(times):
                    writer.write(said)
                    await writer.drain()
            writer.close()

        servers.append(await asyncio.start_server(client, "127.0.0.1", 0))
        port = servers[-1].sockets[0].getsockname()[1]
        assert isinstance(port, int)
        return port

    yield serve
    for server in servers:
        server.close()


@pytest.mark.parametrize(
    ("said", "times", "why"),
    [
        (b"nonsense\r\n\r\n", 1, "has no metrics"),
        (b"", 1, "has no metrics"),
        (b"HTTP/1.0 404 Not Found\r\n\r\n", 1, "has no metrics"),
        (b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * MAX_METRICS_BYTES, 1000, "more than"),
    ],
    ids=["nonsense", "nothing", "404", "endless"],
)
async def test_what_is_no_metrics_is_said_in_the_archive(
    other: Gateway,
    dealtable: Dealtable,
    tmp_path: Path,
    web: Callable[[bytes, int], Any],
    said: bytes,
    times: int,
    why: str,
) -> None:
    port = await web(said, times)
    other.tell(metrics=f"http://127.0.0.1:{port}/metrics")
    done = await dealtable("bundle", "--state-dir", other.state_dir, "--out", tmp_path / "b.tar.gz")
    assert (done.code, "Traceback" in done.err) == (0, False)
    assert "metrics.txt.missing" in done.out
    assert why in done.out


@pytest.mark.parametrize(
    "address",
    ["http://192.0.2.1:{port}/metrics", "http://localhost:{port}/metrics",
     "http://127.0.0.1:{port}/orders", "ftp://127.0.0.1:{port}/metrics", "http://[::1/metrics"],
)  # fmt: skip
async def test_only_an_address_of_this_computer_is_asked_for_metrics(
    other: Gateway,
    dealtable: Dealtable,
    tmp_path: Path,
    web: Callable[[bytes, int], Any],
    address: str,
) -> None:
    port = await web(b"HTTP/1.0 200 OK\r\n\r\nsecret", 1)
    other.tell(metrics=address.format(port=port))
    done = await dealtable("bundle", "--state-dir", other.state_dir, "--out", tmp_path / "b.tar.gz")
    assert (done.code, "metrics.txt.missing" in done.out) == (0, True)
