"""The figures of `dealtable bench`, each beside its floor."""

import asyncio
import binascii
import subprocess
import sys
import tempfile
from pathlib import Path

from controller.deal.sequence import sequence
from controller.rules.profile import load_profile
from controller.trials.bench import figure
from controller.trials.hall import HallPlan, hall
from controller.trials.mechanical import mechanical_s
from controller.trials.players import Dealt, players
from drivers.firmware.codec import Decoder, encode
from sim.mechanics.settings import Settings

_FRAMES = 1000
_PAYLOAD = bytes(range(40))


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


class _OneDeal:
    """A deal at the reference pace with everything on; its floor is the same one's mechanics.

    The floor is asked first, so that it deals and keeps the wall time for the figure.
    """

    wall_s = 0.0

    def mechanics_alone(self) -> float:
        """Deal; return the seconds that the same attempt takes without line and host."""
        dealt = asyncio.run(self._deal())
        self.wall_s = dealt.wall_s
        profile = load_profile("international-000")
        seed, commitment = bytes.fromhex(dealt.seed), bytes.fromhex(dealt.commitment)
        order = sequence(commitment, seed, dealt.cut, profile.deck.cards)
        return mechanical_s(Settings(), profile, order)

    async def _deal(self) -> Dealt:
        with tempfile.TemporaryDirectory() as folder:
            async with hall(HallPlan(Path(folder))) as (table,), players(table) as people:
                return await people.deal()


_one_deal = _OneDeal()


@figure("deal", floor=_one_deal.mechanics_alone, most=3.0, rounds=5)
def deal() -> float:
    """A deal at 100 ms a card, boards, journal, CURVE and feed on, against its mechanics alone."""
    return _one_deal.wall_s
