"""What tests of the gateway share: a real gateway before a scripted machine."""

from tests.gateway.loopback_gateway import (
    config,
    connect,
    endpoints,
    machine,
    make_event,
    make_state,
    raw,
    state_dir,
    stranger,
)

__all__ = [
    "config",
    "connect",
    "endpoints",
    "machine",
    "make_event",
    "make_state",
    "raw",
    "state_dir",
    "stranger",
]
