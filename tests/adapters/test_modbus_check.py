"""`--check`: what each mapped place says, and which units do not answer; nothing is written."""

from drivers.adapters.modbus_probe import ModbusProbeRow, probe_line
from tests.adapters.drives import FEEDER, GATE, IO, Drives
from tests.adapters.modbus_rig import example


class Direct:
    """A port whose units answer at once; waiting makes time pass."""

    def __init__(self, drives: Drives) -> None:
        self.now_ms = 0
        self.written: set[int] = set()
        self._drives = drives
        self._rx = b""

    def write(self, data: bytes) -> None:
        self.written.add(data[1])
        self._rx = self._drives.answer(data, self.now_ms)

    def read(self) -> bytes:
        rx, self._rx = self._rx, b""
        return rx

    def source(self) -> int | None:
        return None

    def wait(self, wait_ms: int) -> None:
        self.now_ms += wait_ms

    def close(self) -> None:
        raise AssertionError


def looked(drives: Drives) -> dict[str, ModbusProbeRow]:
    port = Direct(drives)
    rows = {row.name: row for row in probe_line(example(), port, lambda: port.now_ms)}
    assert port.written <= {1, 2, 3, 4}  # functions that read
    return rows


def test_every_place_says_what_it_means() -> None:
    drives = Drives(lambda name, value: None)
    drives.at("lid", 1)
    drives.at("gate_at", 2)
    drives.at("land_3", 1)
    rows = looked(drives)
    assert not any(row.wrong for row in rows.values())
    assert rows["lid"] == ModbusProbeRow("lid", "1 (io)", "discrete 10", "1", "on", False)
    assert rows["hopper"].means == "off"
    assert rows["gate_at"].means == "S"
    assert rows["land_3 (counter)"].says == "1"
    assert rows["watchdog of feeder"].means == "not written yet"


def test_a_unit_that_is_silent_or_refuses_is_wrong_and_the_others_are_told() -> None:
    drives = Drives(lambda name, value: None)
    drives.silent.add(FEEDER)
    drives.refuses[GATE] = 2
    rows = looked(drives)
    assert {row.name for row in rows.values() if row.wrong} == {
        "feed",
        "watchdog of feeder",
        "gate",
    }
    assert rows["feed"].means == "it does not answer"
    assert "illegal data address" in rows["gate"].means
    drives.silent = {IO}
    assert looked(drives)["lid"].wrong
