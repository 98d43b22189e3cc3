"""Benchmark figures of programs: help, memory, start, judged plays, campaigns and frames."""

import asyncio
import binascii
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from controller.cards import composition
from controller.deal.sequence import sequence
from controller.messages import MachinePhase, PublicState, Role
from controller.rules.combos.combo_judge import judge_play
from controller.rules.combos.guandan_combos import contained_kinds, readings
from controller.rules.combos.play_notation import parse_play
from controller.rules.profile_files import load_profile
from controller.rules.ranks import natural_rank
from drivers.firmware.framing import Decoder, encode
from sim.bench.bare_table import mechanical_s
from sim.bench.figure_registry import (
    FigureUnit,
    FigureValue,
    choose_size,
    now_s,
    time_in_turns_us,
    time_s,
    timed_figure,
    valued_figure,
)
from sim.campaign.campaign_lives import LIFE_DEALS
from sim.mechanics.mechanics_settings import MechanicsSettings
from sim.people.practice_players import seat_players
from sim.tables.process_costs import measure_costs, resident_mib
from sim.tables.table_processes import HallPlan, TableProcess, run_hall

_JOBS = 2
_BARE = 10


@valued_figure("campaign")
def measure_campaigns() -> list[FigureValue]:
    """Measure a campaign's attempts and cards a second on two cores. The floor is boards alone."""
    profile = load_profile("international-000")
    order = sequence(bytes(32), bytes(32), None, profile.deck.cards)
    bare_s = time_s(
        lambda: [mechanical_s(MechanicsSettings(), profile, order) for _ in range(_BARE)] and None
    )
    floor, unit, cards = _JOBS * _BARE / bare_s, FigureUnit.PER_S, profile.deck.cards
    hostile, ideal = _measure_attempts_per_s("hostile"), _measure_attempts_per_s("ideal")
    return [
        FigureValue("hostile, attempts", hostile, floor, unit, documented=3.5, aim_value=20),
        FigureValue("ideal, cards", ideal * cards, floor * cards, unit, 2.5, aim_value=2500),
    ]


def _measure_attempts_per_s(faults: str) -> float:
    deals = LIFE_DEALS * choose_size(3, 1) * _JOBS
    words = ("campaign", "--deals", str(deals), "--faults", faults, "--jobs", str(_JOBS))
    begun_s = now_s()
    command = [sys.executable, "-m", "controller.cli", *words, "--json"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    took_s = now_s() - begun_s
    attempts: int = json.loads(told)["attempts"]
    return attempts / took_s


_LAID, _PLAYED = "KK66 ♥2", "♦789T ♥2"
_TURNS = 10
_SET = composition(2, jokers=True)
_TEN_CARD_PLAYS = tuple(
    parse_play(text, 2, _SET).faces
    for text in ("99999999 ♥2♥2", "♠3456789T ♥2♥2", "33445566 ♥2♥2", "333444 SJ BJ ♥2♥2")
)
"""Plays of ten cards, two of them wild: equal ranks, one suit in sequence, pairs, and mixed."""


def _plays_alone() -> None:
    for _ in range(_TURNS):
        parse_play(_LAID, 2, _SET)
        parse_play(_PLAYED, 2, _SET)


@timed_figure("ruling", floor=_plays_alone, documented=5.0, per=_TURNS)
def rule_on_plays() -> None:
    """Judge whether a play with wild cards beats another (aim: 5 ms). The floor is parsing both."""
    for _ in range(_TURNS):
        judge_play("international-000", 2, _PLAYED, _LAID)


@valued_figure("rulings")
def measure_rulings() -> list[FigureValue]:
    """Count how often a play can be judged in a second (see `ruling`). The floor only parses it."""
    value_us, floor_us = time_in_turns_us(rule_on_plays, _plays_alone, _TURNS, rounds=15)
    value, floor = 1e6 / value_us, 1e6 / floor_us
    return [FigureValue("", value, floor, FigureUnit.PER_S, documented=5.0, aim_value=200)]


def _ranks_alone() -> None:
    for faces in _TURNS * _TEN_CARD_PLAYS:
        Counter(map(natural_rank, faces))


@timed_figure("readings", floor=_ranks_alone, documented=250.0, per=_TURNS * len(_TEN_CARD_PLAYS))
def read_plays() -> None:
    """Find all readings of ten cards, two of them wild (aim: 20 ms). The floor counts ranks."""
    for faces in _TURNS * _TEN_CARD_PLAYS:
        readings(faces, 2)
        contained_kinds(faces, 2)


def _python_alone() -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True)


@timed_figure("help", floor=_python_alone, documented=4.0, aim=8.0)
def show_help() -> None:
    """Show the command line's help. The floor is a Python that does nothing."""
    code = "from controller.cli import main; main(['--help'])"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


_PACKAGES = "click, gpiozero, msgspec, nacl.signing, serial, structlog, zmq.asyncio"


@asynccontextmanager
async def _run_table() -> AsyncIterator[TableProcess]:
    with tempfile.TemporaryDirectory() as folder:
        async with run_hall(HallPlan(Path(folder), speed=10.0)) as (table,):
            yield table


@valued_figure("memory")
def measure_memory() -> list[FigureValue]:
    """Measure the memory of a table's two processes after a deal. The floor is an idle Python."""

    async def measure_table() -> tuple[float, float]:
        async with _run_table() as table, seat_players(table) as people:
            await people.play_deal()
            assert table.daemon is not None
            spent = measure_costs(table.daemon.pid)
            return spent["run machine"].rss_mib, spent["run gateway"].rss_mib

    machine, gateway = asyncio.run(measure_table())
    bare = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]
    with subprocess.Popen(bare, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        floor = resident_mib(process.pid)
    return [
        FigureValue("machine", machine, floor, FigureUnit.MIB, documented=4.5, aim_value=45),
        FigureValue("gateway", gateway, floor, FigureUnit.MIB, documented=4.0, aim_value=40),
    ]


@valued_figure("start")
def measure_start() -> list[FigureValue]:
    """Measure the time from a table's start until it can deal. The floor is importing packages."""
    packages = [sys.executable, "-c", f"import {_PACKAGES}"]
    value_us, floor_us = time_in_turns_us(
        lambda: asyncio.run(_time_start_s()),
        lambda: subprocess.run(packages, check=True),
        per=1,
        rounds=choose_size(5, 1),
    )
    value, floor = value_us / 1e6, floor_us / 1e6
    return [FigureValue("", value, floor, FigureUnit.S, documented=3.5, aim_value=1.0)]


async def _time_start_s() -> float:
    async with _run_table() as table:
        await table.stop_daemon()
        begun_s = now_s()
        await table.start_daemon()
        async with table.client(Role.TABLE, topics=("state/",)) as client:
            async for heard in client.feed():
                state = msgspec.json.decode(heard.body, type=PublicState)
                if state.machine.phase is MachinePhase.EMPTY:
                    return now_s() - begun_s
    raise AssertionError("a feed does not end")


_FRAMES = 1000
_PAYLOAD = bytes(range(40))


def _checksums_alone() -> None:
    for _ in range(2 * _FRAMES):
        binascii.crc32(_PAYLOAD)


@timed_figure("frame", floor=_checksums_alone, documented=13.0, per=_FRAMES)
def code_frames() -> None:
    """Encode and decode a frame. The floor is computing the two checksums."""
    decoder = Decoder()
    for _ in range(_FRAMES):
        decoder.feed(encode(_PAYLOAD))
