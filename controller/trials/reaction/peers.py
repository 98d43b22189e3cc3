"""Other ways to a serial port, measured beside the tables: the programs of tests/peers.

They are programs and never imported; a table that is installed has none.
"""

import subprocess
import sys

import msgspec

from controller.trials.reaction.plant import CHECKOUT

_FOLDER = "tests/peers"
_LIMIT_S = 20.0


class PeerProgram(msgspec.Struct, frozen=True):
    """A program, and what it says it is, with the versions of what it is made of."""

    module: str
    name: str


def find_peers() -> list[PeerProgram]:
    """Return those whose libraries are installed."""
    files = sorted((CHECKOUT / _FOLDER).glob("*.py"))
    modules = [".".join((*_FOLDER.split("/"), file.stem)) for file in files]
    asked = [(module, _peer_name(module)) for module in modules]
    return [PeerProgram(module, name) for module, name in asked if name]


def _peer_name(module: str) -> str:
    """Return what a program says without arguments; nothing where it cannot run."""
    words = [sys.executable, "-m", module]
    told = subprocess.run(
        words, cwd=CHECKOUT, capture_output=True, text=True, timeout=_LIMIT_S, check=False
    )
    return told.stdout.strip() if told.returncode == 0 else ""
