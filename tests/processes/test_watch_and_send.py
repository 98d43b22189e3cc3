"""`watch` and `send` called in ways that people do call them: lines that say what to do."""

import asyncio
import os
import signal
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from controller.messages import Role
from sim.tables.table_processes import TableProcess
from tests.processes.gateway_double import Gateway
from tests.processes.program import DEALTABLE, Dealtable, Start


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["lines", "json"])
async def test_watch_ends_quietly_when_nobody_reads_it_any_more(
    honest: Gateway, other: Gateway, words: list[str]
) -> None:
    reading, writing = os.pipe()
    where = [f"--state-dir={gateway.state_dir}" for gateway in (honest, other)]
    watch = await asyncio.create_subprocess_exec(
        *DEALTABLE, "watch", *where, *words, stdout=writing, stderr=PIPE
    )
    os.close(writing)
    os.close(reading)
    try:
        talking = [asyncio.ensure_future(_talk(gateway)) for gateway in (honest, other)]
        _, err = await watch.communicate()
        for task in talking:
            task.cancel()
    finally:
        if watch.returncode is None:
            watch.kill()
    assert (watch.returncode, err) == (128 + signal.SIGPIPE, b"")


async def _talk(gateway: Gateway) -> None:
    """Publish a state to the first subscriber."""
    await gateway.subscribed()
    await gateway.state()


async def test_send_waits_for_an_answer_as_long_as_it_is_told_to(
    honest: Gateway, dealtable: Dealtable
) -> None:
    words = ("send", "snapshot", "--answer-s", "0.1", "--state-dir", honest.state_dir)
    done = await dealtable(*words)
    assert (done.code, done.out) == (1, "")
    assert "no answer in 0.1 s" in done.err


async def test_watch_shows_who_stops_a_table_and_why(
    table: TableProcess, start: Start, dealtable: Dealtable
) -> None:
    here = ("--state-dir", table.state_dir)
    watch = await start("watch", *here)
    chinese = await start("watch", "--language", "zh", *here)
    await watch.line("empty")
    await chinese.line("空闲")
    held = await dealtable("send", "hold", "reason=the lid is open", "--as", "referee", *here)
    assert held.code == 0, held.err
    await watch.line("STOPPED by referee (referee): the lid is open")
    await chinese.line("暂停  referee（裁判员）：the lid is open")
    refused = await dealtable("send", "start_deal", "--as", "referee", "--language", "zh", *here)
    assert refused.code == 1
    assert "被拒绝，PAUSED：本台已暂停" in refused.err
    assert (await dealtable("send", "resume", "--as", "referee", *here)).code == 0
    await watch.line("the stop by referee (referee) is over")


async def test_a_role_is_refused_in_chinese(table: TableProcess, dealtable: Dealtable) -> None:
    words = ("send", "redeal", "reason=x", "--as", "observer", "--language", "zh")
    refused = await dealtable(*words, "--state-dir", table.state_dir)
    assert refused.code == 1
    assert "“观摩”无权执行“重新发牌”" in refused.err


async def test_watch_with_another_tables_key_connects_to_nobody(
    honest: Gateway, other: Gateway, dealtable: Dealtable
) -> None:
    key = other.state_dir / "keys" / "table.key"
    for pinned in (key, other.key):
        done = await dealtable("watch", "--state-dir", honest.state_dir, "--server-key", pinned)
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert "its table's key is another" in done.err


async def test_watch_with_the_tables_own_key_watches_it(honest: Gateway, start: Start) -> None:
    key = honest.state_dir / "keys" / "table.key"
    watch = await start("watch", "--state-dir", honest.state_dir, "--server-key", key)
    await watch.line("connected")


async def test_the_keys_of_several_tables_come_once_for_each(
    honest: Gateway, other: Gateway, start: Start, dealtable: Dealtable
) -> None:
    folders = ("--state-dir", honest.state_dir, "--state-dir", other.state_dir)
    keys = ("--server-key", honest.key, "--server-key", other.key)
    watch = await start("watch", *folders, *keys)
    await watch.line(lambda line: "T01" in line and "connected" in line)
    await watch.line(lambda line: "T02" in line and "connected" in line)
    done = await dealtable("watch", *folders, *keys, "--server-key", other.key)
    assert (done.code, "once for each --state-dir" in done.err) == (2, True)


async def test_an_endpoint_that_is_no_address_is_told_what_one_is(
    honest: Gateway, dealtable: Dealtable
) -> None:
    key = honest.state_dir / "clients" / "observer.key_secret"
    for word in ("foo", "tcp://foo", "192.168.1.12:5556"):
        done = await dealtable("watch", word, "--key", key, "--server-key", honest.key)
        assert done.code == 2
        assert f"{word}: an ENDPOINT is an address such as tcp://" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["snapsot"], "there is no command snapsot, did you mean snapshot?"),
        (["xyzzy"], "there is no command xyzzy, --help lists them"),
        (["cut", "n=40"], "cut is signed: name the key with --as ROLE"),
    ],
)
async def test_a_command_that_there_is_not_is_not_said_to_be_signed(
    dealtable: Dealtable, tmp_path: Path, words: list[str], said: str
) -> None:
    done = await dealtable("send", *words, "--state-dir", tmp_path)
    assert (done.code, said in done.err) == (2, True)


async def test_a_name_without_a_key_is_told_which_there_are(
    honest: Gateway, dealtable: Dealtable
) -> None:
    words = ("send", "cut", "n=40", "--as", "king", "--state-dir", honest.state_dir)
    done = await dealtable(*words)
    assert done.code == 2
    assert "king.key_secret" in done.err
    assert ", ".join(sorted(Role)) in done.err


async def test_without_its_own_key_file_a_table_is_not_believed(
    honest: Gateway, other: Gateway, dealtable: Dealtable
) -> None:
    """Its gateway writes endpoints.json, and may name another table's key there."""
    honest.tell(server_key=other.key)
    for words in (["watch"], ["send", "hold", "--as", "referee"]):
        done = await dealtable(*words, "--state-dir", honest.state_dir)
        assert (done.code, done.err.count("\n")) == (2, 1)
