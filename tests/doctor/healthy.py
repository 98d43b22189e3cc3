"""A table at which nothing is wrong: its configuration, and all that is known of it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from controller.config import TableConfig
from controller.doctor.facts import (
    Answer,
    Clock,
    Disk,
    DoctorFacts,
    Feed,
    Keys,
    Memory,
    Part,
    Pins,
    Port,
    Program,
    PythonFacts,
    Released,
    Service,
    Supply,
)
from drivers.identity import PROTOCOL, Welcome

SHIPPED = "5e" * 8
DEALER_ID, READER_ID = "e66058388300001a", "e66058388300002b"
UNITS = ("dealtable-machine@T01.service", "dealtable-gateway@T01.service")


def welcome(kind: Any, uid: str, **other: Any) -> Welcome:
    """Return what the right board answers, but for `other`."""
    return Welcome(
        **{
            "kind": kind,
            "hal": "rp2",
            "uid": uid,
            "firmware": "0.2.0",
            "firmware_hash": SHIPPED,
            "protocol": PROTOCOL,
            "boot": 1,
            "settings_crc": 0x1C291CA3,
            "reset_cause": 0,
            "attempt": 0,
            "events": 0,
            "fed": 0,
            "landed": 0,
            "forgotten": 0,
            **other,
        }
    )


CONFIG = msgspec.convert(
    {
        "table": {
            "id": "T01",
            "profile": "international-000",
            "backend": "serial",
            "state_dir": "/var/lib/dealtable/T01",
            "user": "dealtable",
        },
        "dealer": {"port": "/dev/table-dealer", "id": DEALER_ID},
        "reader": {"port": "/dev/table-reader", "id": READER_ID},
        "panel": {"pins": "lgpio"},
        "card_set": [{"id": "S1", "back": "A"}],
        "gateway": {"dir": "/var/lib/dealtable/T01-gateway", "user": "dealtable-gateway"},
    },
    TableConfig,
    dec_hook=lambda kind, text: Path(text) if kind is Path else text,
)

FACTS = DoctorFacts(
    config_file=Path("/etc/dealtable/T01.toml"),
    python=PythonFacts((3, 11, 2), 64, "aarch64"),
    parts=(Part("zmq", "26.0.3", curve=True), Part("lgpio", "0.2.2.0")),
    program=Program("0.1.0", SHIPPED, Released("0.1.0", 7, "2027-03-01", signed=True)),
    machine=None,
    ports={
        "dealer": Port("/dev/table-dealer", "/dev/ttyACM0"),
        "reader": Port("/dev/table-reader", "/dev/ttyUSB0", latency_ms=1),
    },
    answers={
        "dealer": Answer(welcome("dealer", DEALER_ID)),
        "reader": Answer(welcome("reader", READER_ID)),
    },
    pins=Pins("Raspberry Pi 4 Model B Rev 1.5", (("/dev/gpiochip0", True),), lg_wd=True),
    clock=Clock(datetime(2027, 4, 1, 9, 30, tzinfo=UTC), synchronized=True),
    disk=Disk(free_bytes=8 << 30),
    memory=Memory("tmpfs", (), "core", "0 0"),
    supply=Supply(throttled=0, alarm=False, celsius=52.0),
    keys=Keys(chiefs=1, clients=4),
    users="",
    services=tuple(Service(name, "loaded", "active", "enabled") for name in UNITS),
    feed=Feed("tcp://192.168.1.12:5556", heard="table T01: empty"),
)
