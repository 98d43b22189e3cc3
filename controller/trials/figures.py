"""The figures of `dealtable bench`, each beside its floor."""

import asyncio
import binascii
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import click
import msgspec

from controller.cards import composition
from controller.deal.sequence import sequence
from controller.messages import Role
from controller.rules.combos.judge import judge
from controller.rules.combos.notation import parse_play
from controller.rules.combos.recognise import contained, readings
from controller.rules.order import natural
from controller.rules.rulebooks import load_profile
from controller.trials.bench import figure, watch
from controller.trials.console_load import Console, Load, OnPages, console_load
from controller.trials.flood import flooded, reading
from controller.trials.hall import HallError, HallPlan, RunningTable, hall
from controller.trials.mechanical import mechanical_s
from controller.trials.pixels import lacking
from controller.trials.players import Dealt, players
from controller.trials.waiting import waiting
from controller.trials.watched import Times
from drivers.firmware.codec import Decoder, encode
from sim.mechanics.settings import Settings

_FRAMES = 1000
_PAYLOAD = bytes(range(40))
_FLOOD_PER_S = 1000
_HALL_TABLES = 10


def _python_alone() -> None:
    subprocess.run([sys.executable, "-c", "pass"], check=True)


@figure("help", floor=_python_alone, most=8.0)
def show_help() -> None:
    """The command line's help, against an interpreter that does nothing."""
    subprocess.run(
        [sys.executable, "-c", "from controller.cli import main; main(['--help'])"],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def _checksums_alone() -> None:
    for _ in range(2 * _FRAMES):
        binascii.crc32(_PAYLOAD)


@figure("frame", floor=_checksums_alone, most=40.0, per=_FRAMES)
def code_frames() -> None:
    """A frame coded and decoded, against its two checksums."""
    decoder = Decoder()
    for _ in range(_FRAMES):
        decoder.feed(encode(_PAYLOAD))


def _alone_s(dealt: Dealt) -> float:
    """Return the seconds that the mechanics alone take for the same attempt."""
    profile = load_profile("international-000")
    seed, commitment = bytes.fromhex(dealt.seed), bytes.fromhex(dealt.commitment)
    order = sequence(commitment, seed, dealt.cut, profile.deck.cards)
    return mechanical_s(Settings(), profile, order)


class _OneDeal:
    """A deal at the reference pace with everything on; its floor is the same one's mechanics.

    The floor is asked first, so that it deals and keeps the wall time for the figure.
    """

    wall_s = 0.0

    def mechanics_alone(self) -> float:
        """Deal; return the seconds that the same attempt takes without line and host."""
        dealt = asyncio.run(self._deal())
        self.wall_s = dealt.wall_s
        return _alone_s(dealt)

    async def _deal(self) -> Dealt:
        with tempfile.TemporaryDirectory() as folder:
            async with hall(HallPlan(Path(folder))) as (table,), players(table) as people:
                return await people.deal()


class _FloodedDeal(_OneDeal):
    """The same while another client sends a thousand commands a second."""

    async def _deal(self) -> Dealt:
        with tempfile.TemporaryDirectory() as folder:
            async with (
                hall(HallPlan(Path(folder))) as (table,),
                players(table) as people,
                table.client(Role.OBSERVER) as stranger,
                flooded(stranger, _FLOOD_PER_S, reading),
            ):
                return await people.deal()


class _Hall:
    """A hall whose tables deal at the reference pace, each begun at another moment."""

    wall_s = 0.0

    def mechanics_alone(self) -> float:
        """Deal at every table; return the median of what their mechanics alone take."""
        dealt = asyncio.run(self._deal())
        self.wall_s = statistics.median(one.wall_s for one in dealt)
        return statistics.median(map(_alone_s, dealt))

    async def _deal(self) -> list[Dealt]:
        with tempfile.TemporaryDirectory() as folder:
            plan = HallPlan(Path(folder), tables=_HALL_TABLES)
            async with hall(plan) as tables:
                at = (self._deal_at(table, plan.begins_s(n)) for n, table in enumerate(tables))
                return list(await asyncio.gather(*at))

    async def _deal_at(self, table: RunningTable, begins_s: float) -> Dealt:
        await asyncio.sleep(begins_s)
        async with players(table) as people:
            return await people.deal()


_LAID, _PLAYED = "KK66 ♥2", "♦789T ♥2"
_TURNS = 10
_SET = composition(2, jokers=True)
_TENS = tuple(
    parse_play(text, 2, _SET).faces
    for text in (
        "99999999 ♥2♥2",
        "♠3456789T ♥2♥2",
        "33445566 ♥2♥2",
        "333444 SJ BJ ♥2♥2",
    )
)
"""Ten cards each, two of them wild: alike, in a row and of one suit, in pairs, and mixed."""


def _plays_alone() -> None:
    for _ in range(_TURNS):
        parse_play(_LAID, 2, _SET)
        parse_play(_PLAYED, 2, _SET)


@figure("ruling", floor=_plays_alone, most=15.0, per=_TURNS)
def rule_on_plays() -> None:
    """A ruling on two plays with a wild card each, aim 5 ms, against reading what was typed."""
    for _ in range(_TURNS):
        judge("international-000", 2, _PLAYED, _LAID)


def _ranks_alone() -> None:
    for faces in _TURNS * _TENS:
        Counter(map(natural, faces))


@figure("readings", floor=_ranks_alone, most=750.0, per=_TURNS * len(_TENS))
def read_plays() -> None:
    """All that ten cards with two wild ones are and contain, aim 20 ms, against counting ranks."""
    for faces in _TURNS * _TENS:
        readings(faces, 2)
        contained(faces, 2)


_one_deal, _flooded_deal = _OneDeal(), _FloodedDeal()


@figure("deal", floor=_one_deal.mechanics_alone, most=3.0, rounds=5)
def deal() -> float:
    """A deal at 100 ms a card, boards, journal, CURVE and feed on, against its mechanics alone."""
    return _one_deal.wall_s


@figure("flood", floor=_flooded_deal.mechanics_alone, most=3.0, rounds=2)
def deal_under_flood() -> float:
    """The same deal while one client sends 1,000 commands a second, against its mechanics alone."""
    return _flooded_deal.wall_s


_hall = _Hall()


@figure("hall", floor=_hall.mechanics_alone, most=2.0, rounds=1)
def deal_in_a_hall() -> float:
    """A deal at one of ten tables that deal on this computer, against its mechanics alone."""
    return _hall.wall_s


_WAITING_DEALS = 8


def _waits_for_the_machine() -> float:
    return waiting(_WAITING_DEALS, ahead=False).hands.median_s


@figure("waiting", floor=_waits_for_the_machine, most=0.5, rounds=1)
def wait_for_hands() -> float:
    """From a deal's being due to the order for its hands, with deal-ahead against without."""
    return waiting(_WAITING_DEALS, ahead=True).hands.median_s


class _UnderLoad:
    """One run of a console under the load of a large hall, for both of its figures."""

    def __init__(self) -> None:
        self._run: Console | None = None

    def __call__(self) -> Console:
        """Return what it cost; it is measured once for the same load."""
        browsers = 0 if lacking() else watch.browsers
        load = Load(feeds=watch.feeds, browsers=browsers, seconds=watch.seconds)
        if self._run is None or self._run.load != load:
            try:
                self._run = asyncio.run(console_load(load, _tell))
            except HallError as error:
                raise click.ClickException(f"console: {error}") from error
            click.echo(msgspec.json.encode(self._run), err=True)
        if wrong := self._run.wrong():
            raise click.ClickException(f"console: {'; '.join(wrong)}")
        return self._run


def _tell(line: str) -> None:
    click.echo(f"console: {line}", err=True)


_under_load = _UnderLoad()


def _bare_drain() -> float:
    return _under_load().floor_cores


@figure("console", floor=_bare_drain, most=7.5, rounds=1)
def drain_feeds() -> float:
    """Of a second, what a console of 400 feeds takes at 4,000 states, against decoding them."""
    return _under_load().alone.cores


def _bare_pixels() -> float:
    return _p95_s(_on_pages().bare)


@figure("pixels", floor=_bare_pixels, most=11.0, rounds=1)
def until_drawn() -> float:
    """From a call to its row on five browsers (95 of 100), against a bare page's own way."""
    return _p95_s(_on_pages().drawn)


def _on_pages() -> OnPages:
    pages = _under_load().pages
    if pages is None:
        raise click.ClickException(f"pixels: {lacking() or 'there is no browser'}")
    return pages


def _p95_s(seen: Times | None) -> float:
    if seen is None:
        raise click.ClickException("pixels: no page has drawn anything")
    return seen.p95_ms / 1000
