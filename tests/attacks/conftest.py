"""What attackers need: a real gateway before a scripted machine, and whole real tables."""

from tests.gateway.loopback_gateway import (
    config,
    connect,
    endpoints,
    machine,
    make_state,
    raw,
    state_dir,
    stranger,
)
from tests.processes.tables import boards, dealtable, mark, people, start, table

__all__ = [
    "boards",
    "config",
    "connect",
    "dealtable",
    "endpoints",
    "machine",
    "make_state",
    "mark",
    "people",
    "raw",
    "start",
    "state_dir",
    "stranger",
    "table",
]
