"""Facts out of a made-up /proc, /sys and /run, and of files that are really there."""

import os
import pty
import tty
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from controller.doctor import computer_facts
from controller.doctor.computer_facts import Computer, lock_name
from controller.doctor.table_facts import PortHolder
from controller.host.users import User
from tests.doctor.healthy import CONFIG

ME = User("me", os.getuid(), os.getgid(), (os.getgid(),))
STRANGER = User("stranger", 54321, 54321, (54321,))


class MadeUp(Computer):
    """A computer whose files a test writes."""

    def __init__(self, root: Path, said: dict[str, str] | None = None) -> None:
        self.asked: list[Sequence[str]] = []
        self._said = said or {}
        super().__init__(root, self._answer, lambda: True)

    def has(self, path: str, text: str = "") -> None:
        """Put a file there."""
        self.path_of(path).parent.mkdir(parents=True, exist_ok=True)
        self.path_of(path).write_text(text)

    def _answer(self, words: Sequence[str]) -> str | None:
        self.asked.append(words)
        return self._said.get(words[0])


@pytest.fixture
def computer(tmp_path: Path) -> MadeUp:
    return MadeUp(tmp_path / "root")


@pytest.fixture
def line() -> Iterator[str]:
    """Give the path of a terminal that is this user's."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    path = os.ttyname(theirs)
    os.chmod(path, 0o600)
    yield path
    os.close(ours)
    os.close(theirs)


def test_a_port_is_followed_to_its_device(computer: MadeUp, line: str, tmp_path: Path) -> None:
    link = tmp_path / "table-dealer"
    link.symlink_to(line)
    known = computer_facts.read_port(computer, str(link), ME)
    assert (known.path, known.device) == (str(link), line)
    assert known.is_terminal
    assert known.is_usable
    assert not known.is_open_to_all
    assert known.holders == ()
    os.chmod(line, 0o606)
    assert computer_facts.read_port(computer, str(link), ME).is_open_to_all


def test_a_port_that_is_away_and_a_file_that_is_none_are_told(
    computer: MadeUp, tmp_path: Path
) -> None:
    assert computer_facts.read_port(computer, str(tmp_path / "none"), ME).device == ""
    plain = tmp_path / "plain"
    plain.write_text("")
    assert not computer_facts.read_port(computer, str(plain), ME).is_terminal


def test_a_port_of_another_user_is_not_usable(computer: MadeUp, line: str) -> None:
    assert not computer_facts.read_port(computer, line, STRANGER).is_usable


def test_who_has_a_port_open_and_who_locks_it_are_found(computer: MadeUp, line: str) -> None:
    for pid, name in ((70, "ModemManager"), (71, "dealtable"), (72, "bash")):
        computer.has(f"/proc/{pid}/comm", f"{name}\n")
        computer.path_of(f"/proc/{pid}/fd").mkdir()
    os.symlink(line, computer.path_of("/proc/70/fd/9"))
    os.symlink("/dev/null", computer.path_of("/proc/72/fd/0"))
    lock = lock_name(Path(line).stat())
    computer.has("/proc/locks", f"1: FLOCK  ADVISORY  WRITE 71 {lock} 0 EOF\n")
    known = computer_facts.read_port(computer, line, ME)
    assert known.holders == (
        PortHolder(70, "ModemManager"),
        PortHolder(71, "dealtable", has_lock=True),
    )
    assert not known.holders_incomplete
    computer.has("/proc/74/comm", "ended")
    assert not computer_facts.read_port(computer, line, ME).holders_incomplete
    computer.has("/proc/73/fd", "not to be looked into")
    assert computer_facts.read_port(computer, line, ME).holders_incomplete


def test_the_machine_is_who_locks_the_journal(computer: MadeUp, tmp_path: Path) -> None:
    file = tmp_path / "lock"
    assert computer_facts.find_lock_holder(computer, file) is None
    file.write_text("")
    assert computer_facts.find_lock_holder(computer, file) is None
    computer.has("/proc/locks", f"3: FLOCK ADVISORY WRITE 41 {lock_name(file.stat())} 0 EOF")
    assert computer_facts.find_lock_holder(computer, file) == 41


def test_the_kernels_own_list_of_locks_has_such_names(tmp_path: Path) -> None:
    import fcntl

    with (tmp_path / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert computer_facts.find_lock_holder(Computer(), tmp_path / "lock") == os.getpid()


def test_an_adapters_timer_is_read_where_the_kernel_tells_it(
    computer: MadeUp, tmp_path: Path
) -> None:
    computer.has("/sys/class/tty/table-reader/device/latency_timer", "16\n")
    assert computer_facts.read_port(computer, str(tmp_path / "table-reader"), ME).latency_ms == 16


def test_pins_are_those_of_the_computer(computer: MadeUp) -> None:
    none = computer_facts.read_pins(computer, CONFIG, ME)
    assert (none.model, none.chips, none.lg_wd) == (None, (), None)
    computer.has("/proc/device-tree/model", "Raspberry Pi 5 Model B Rev 1.0\0")
    computer.has("/dev/gpiochip0")
    computer.path_of("/dev/gpiochip0").chmod(0o600)
    known = computer_facts.read_pins(computer, CONFIG, ME)
    assert known.model == "Raspberry Pi 5 Model B Rev 1.0"
    assert known.chips == (("/dev/gpiochip0", True),)
    assert computer_facts.read_pins(computer, CONFIG, STRANGER).chips == (
        ("/dev/gpiochip0", False),
    )


@pytest.mark.parametrize(
    ("unit", "is_set"),
    [("Environment=LG_WD=/run/dealtable/%i A=1\n", True), ("# LG_WD=x\nUser=a\n", False)],
)
def test_lgpios_folder_is_looked_for_in_the_unit(computer: MadeUp, unit: str, is_set: bool) -> None:
    computer.has("/etc/systemd/system/dealtable-machine@.service", unit)
    assert computer_facts.read_pins(computer, CONFIG, ME).lg_wd is is_set


def test_a_disk_is_told_of_before_the_folder_is_there(tmp_path: Path) -> None:
    known = computer_facts.read_disk(tmp_path / "state" / "T01", ME)
    assert not known.exists
    assert known.free_bytes > 0
    assert known.is_writable
    tmp_path.chmod(0o700)
    assert computer_facts.read_disk(tmp_path, ME).exists
    assert not computer_facts.read_disk(tmp_path, STRANGER).is_writable


MOUNTS = """\
tmpfs /run tmpfs rw 0 0
/dev/mmcblk0p3 /run/usb vfat rw 0 0
rootfs / rootfs rw 0 0
/dev/mmcblk0p2 / ext4 rw 0 0
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [("/run/dealtable/T01", "tmpfs"), ("/var/lib/x", "ext4"), ("/run/usb/x", "vfat")],
)
def test_what_a_folder_lies_on_is_the_deepest_mount(
    computer: MadeUp, folder: str, kind: str
) -> None:
    computer.has("/proc/self/mounts", MOUNTS)
    assert computer_facts.read_memory(computer, Path(folder), None).runtime_on == kind


def test_nothing_is_said_of_memory_that_nothing_is_known_of(computer: MadeUp) -> None:
    known = computer_facts.read_memory(computer, Path("/run/x"), 41)
    assert (known.runtime_on, known.swaps, known.core_pattern, known.core_limit) == (None,) * 4


SWAPS = "Filename\tType\tSize\tUsed\tPriority\n"


@pytest.mark.parametrize(
    ("behind", "swaps"), [("none", ()), ("/dev/loop0", ("/dev/zram0",)), (None, ())]
)
def test_packed_memory_is_no_swap_unless_a_file_is_behind_it(
    computer: MadeUp, behind: str | None, swaps: tuple[str, ...]
) -> None:
    computer.has("/proc/swaps", f"{SWAPS}/dev/zram0 partition 1 0 100\n")
    if behind is not None:
        computer.has("/sys/block/zram0/backing_dev", f"{behind}\n")
    assert computer_facts.read_memory(computer, Path("/run"), None).swaps == swaps


def test_a_file_that_is_swapped_to_is_named(computer: MadeUp) -> None:
    computer.has("/proc/swaps", SWAPS)
    assert computer_facts.read_memory(computer, Path("/run"), None).swaps == ()
    computer.has("/proc/swaps", f"{SWAPS}/var/swap file 102396 0 -2\n")
    assert computer_facts.read_memory(computer, Path("/run"), None).swaps == ("/var/swap",)


def test_a_running_machines_limit_is_its_own(computer: MadeUp) -> None:
    computer.has("/proc/41/limits", "Limit  Soft  Hard  Units\nMax core file size  0  0  bytes\n")
    assert computer_facts.read_memory(computer, Path("/run"), 41).core_limit == "0 0"
    assert computer_facts.read_memory(computer, Path("/run"), None).core_limit is None


def test_a_pis_supply_is_read_from_the_kernel_else_from_its_program(tmp_path: Path) -> None:
    asked = MadeUp(tmp_path / "asked", {"vcgencmd": "throttled=0x50005\n"})
    assert computer_facts.read_supply(asked).throttled == 0x50005
    told = MadeUp(tmp_path / "told")
    told.has("/sys/devices/platform/soc/soc:firmware/get_throttled", "50000\n")
    assert computer_facts.read_supply(told).throttled == 0x50000
    assert told.asked == []
    assert computer_facts.read_supply(MadeUp(tmp_path / "none")).throttled is None


@pytest.mark.parametrize(("said", "alarm"), [("1\n", True), ("0\n", False), ("?", None)])
def test_the_alarm_is_that_of_the_pis_own_sensor(
    computer: MadeUp, said: str, alarm: bool | None
) -> None:
    computer.has("/sys/class/hwmon/hwmon0/name", "cpu_thermal\n")
    computer.has("/sys/class/hwmon/hwmon0/in0_lcrit_alarm", "1\n")
    assert computer_facts.read_supply(computer).has_alarm is None
    computer.has("/sys/class/hwmon/hwmon1/name", "rpi_volt\n")
    computer.has("/sys/class/hwmon/hwmon1/in0_lcrit_alarm", said)
    assert computer_facts.read_supply(computer).has_alarm is alarm


def test_the_hottest_sensor_counts(computer: MadeUp) -> None:
    assert computer_facts.read_supply(computer).celsius is None
    computer.has("/sys/class/thermal/thermal_zone0/temp", "48312\n")
    computer.has("/sys/class/thermal/thermal_zone1/temp", "61750\n")
    assert computer_facts.read_supply(computer).celsius == 61.75


def test_services_are_asked_for_where_systemd_runs(tmp_path: Path) -> None:
    said = "LoadState=loaded\nActiveState=failed\nUnitFileState=enabled\n"
    computer = MadeUp(tmp_path, {"systemctl": said})
    assert computer_facts.read_services(computer, "T01") is None
    computer.path_of("/run/systemd/system").mkdir(parents=True)
    found = computer_facts.read_services(computer, "T01")
    assert found is not None
    assert [one.name for one in found] == [
        "dealtable-machine@T01.service",
        "dealtable-gateway@T01.service",
    ]
    assert {(one.load, one.active, one.enabled) for one in found} == {
        ("loaded", "failed", "enabled")
    }


TCP = """\
  sl  local_address rem_address   st tx_queue
   0: 00000000:15B4 00000000:0000 0A 00000000
   1: 0100007F:15B5 0100007F:9999 01 00000000
"""


def test_a_port_counts_as_taken_only_where_somebody_listens(computer: MadeUp) -> None:
    both = ("tcp://*:5556", "tcp://*:5557", "tcp://*:*")
    assert computer_facts.taken_addresses(computer, both) == ()
    computer.has("/proc/net/tcp", TCP)
    assert computer_facts.taken_addresses(computer, both) == ("tcp://*:5556",)


def test_the_kernels_clock_is_asked_and_not_set() -> None:
    assert Computer().is_synchronized() in (True, False, None)


def test_a_simulated_panel_is_there_with_its_socket(computer: MadeUp, runtime_dir: Path) -> None:
    import socket

    config = replace(CONFIG, panel=replace(CONFIG.panel, pins=f"unix:{runtime_dir}/pins"))
    assert not computer_facts.read_pins(computer, config, ME).has_socket
    with socket.socket(socket.AF_UNIX) as panel:
        panel.bind(f"{runtime_dir}/pins")
        assert computer_facts.read_pins(computer, config, ME).has_socket
