"""The state and the configuration of a table without hardware, from which doubles are made."""

from pathlib import Path

import msgspec

from controller.config import TableConfig
from controller.messages import MachinePhase, PublicMachine, PublicMatch, PublicState, TableCounters

STATE = PublicState(
    table="T01",
    boot="00" * 8,
    seq=1,
    time="2026-03-01T12:00:00.000Z",
    simulated=False,
    mode="play",
    machine=PublicMachine(phase=MachinePhase.EMPTY),
    match=PublicMatch(profile="international-000"),
    fairness=[],
    head="00" * 32,
    alerts=[],
    calls=[],
    counters=TableCounters(),
)
"""The state of an empty table. `msgspec.structs.replace` makes others of it."""


def loopback_config(state_dir: Path, runtime_dir: Path, table: str = "T01") -> TableConfig:
    """Return the configuration of a table whose gateway takes free ports of this computer alone."""
    return msgspec.convert(
        {
            "table": {
                "id": table,
                "profile": "international-000",
                "backend": "sim",
                "state_dir": str(state_dir),
                "runtime_dir": str(runtime_dir),
            },
            "dealer": {"port": "/dev/null", "id": "00000000000000d1"},
            "reader": {"port": "/dev/zero", "id": "00000000000000e1"},
            "panel": {"pins": "mock"},
            "card_set": [{"id": "S1", "back": "A"}],
            "gateway": {"feed": "tcp://127.0.0.1:*", "commands": "tcp://127.0.0.1:*"},
        },
        TableConfig,
        dec_hook=lambda kind, value: kind(value),
    )
