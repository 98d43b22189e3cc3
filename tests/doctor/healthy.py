"""A table at which nothing is wrong: its configuration, and all that is known of it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from controller.config import TableConfig
from controller.doctor.table_facts import (
    BoardAnswer,
    ClockFacts,
    DiskFacts,
    DoctorFacts,
    FeedFacts,
    KeyFacts,
    LibraryFacts,
    MemoryFacts,
    PinFacts,
    PortFacts,
    ProgramFacts,
    PythonFacts,
    ReleaseFacts,
    ServiceFacts,
    SupplyFacts,
)
from drivers.link.frames import PROTOCOL_HEX, Welcome

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
            "protocol": PROTOCOL_HEX,
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
    libraries=(LibraryFacts("zmq", "26.0.3", curve=True), LibraryFacts("lgpio", "0.2.2.0")),
    program=ProgramFacts("0.1.0", SHIPPED, ReleaseFacts("0.1.0", 7, "2027-03-01", signed=True)),
    machine_pid=None,
    ports={
        "dealer": PortFacts("/dev/table-dealer", "/dev/ttyACM0"),
        "reader": PortFacts("/dev/table-reader", "/dev/ttyUSB0", latency_ms=1),
    },
    answers={
        "dealer": BoardAnswer(welcome("dealer", DEALER_ID)),
        "reader": BoardAnswer(welcome("reader", READER_ID)),
    },
    pins=PinFacts("Raspberry Pi 4 Model B Rev 1.5", (("/dev/gpiochip0", True),), lg_wd=True),
    clock=ClockFacts(datetime(2027, 4, 1, 9, 30, tzinfo=UTC), synchronized=True),
    disk=DiskFacts(free_bytes=8 << 30),
    memory=MemoryFacts("tmpfs", (), "core", "0 0"),
    supply=SupplyFacts(throttled=0, has_alarm=False, celsius=52.0),
    keys=KeyFacts(chiefs=1, clients=4),
    users_problem="",
    services=tuple(ServiceFacts(name, "loaded", "active", "enabled") for name in UNITS),
    feed=FeedFacts("tcp://192.168.1.12:5556", state_text="table T01: empty"),
)
