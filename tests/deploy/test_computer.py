"""What a table's computer is told about it: names of ports, folders in memory, the units' paths."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import structlog.testing
from click.testing import CliRunner, Result

from controller.cli.deploy import command
from controller.config import load_table
from controller.service.machine_process import warn_about_latency
from drivers.link.serial_port import USB_LATENCY_MS, read_latency_ms
from tests.deploy import fake_usb

pytestmark = pytest.mark.system

TABLE = """\
[table]
id = "T01"
profile = "international-000"
backend = "serial"
state_dir = "/var/lib/dealtable/T01"
user = "dealtable"
[dealer]
port = "/dev/table-dealer"
id = "e66058388300001a"
[reader]
port = "/dev/table-reader"
id = "e66058388300002b"
usb = "A50285BI"
[panel]
pins = "lgpio"
[[card_set]]
id = "S1"
back = "A"
[gateway]
dir = "/var/lib/dealtable/T01-gateway"
user = "dealtable-gateway"
"""


def deploy(folder: Path, what: str, *changes: tuple[str, str]) -> Result:
    """Run `dealtable deploy WHAT` on a configuration with some words changed."""
    text = TABLE
    for before, after in changes:
        assert text.count(before) == 1
        text = text.replace(before, after)
    file = folder / "T01.toml"
    file.write_text(text)
    return CliRunner().invoke(command, [what, str(file)])


def test_ports_get_names_by_usb_serial_number_a_group_and_no_delay_from_udev_itself(
    tmp_path: Path, as_root: None
) -> None:
    done = deploy(tmp_path, "udev", ('user = "dealtable"\n', 'user = "daemon"\n'))
    assert done.exit_code == 0, done.output
    rules = tmp_path / "rules"
    rules.write_text(done.output)
    met = subprocess.run(
        [sys.executable, fake_usb.__file__, str(rules)], capture_output=True, text=True
    )
    assert met.returncode == 0, met.stderr
    ours = {"mode": "0660", "group": "daemon"}
    found = json.loads(met.stdout)
    assert found["latency_timer"] == str(USB_LATENCY_MS) != "9"
    ports = found["ports"]
    assert ports["ttyACM0"] == {"links": ["table-dealer"], **ours}
    assert ports["ttyUSB0"] == {"links": ["table-reader"], **ours}
    assert ports["gpiochip0"] == {"links": [], **ours}
    stranger = ports["ttyACM1"]
    assert (stranger["links"], stranger["group"]) == ([], "dialout")


def test_a_simulated_tables_ports_and_pins_need_no_rule(tmp_path: Path) -> None:
    done = deploy(
        tmp_path,
        "udev",
        ('port = "/dev/table-dealer"', 'port = "/run/dealtable/T01/dealer"'),
        ('pins = "lgpio"', 'pins = "mock"'),
    )
    assert "table-dealer" not in done.output
    assert "gpiochip" not in done.output
    assert "table-reader" in done.output


@pytest.mark.parametrize("port", ["/dev/ttyACM0", "/dev/pts/3", "/dev/serial/by-id/x"])
def test_a_name_of_the_kernels_is_no_name_of_a_port(tmp_path: Path, port: str) -> None:
    done = deploy(tmp_path, "udev", ('"/dev/table-dealer"', f'"{port}"'))
    assert done.exit_code == 2
    assert f"dealer.port = {port}" in done.output


def test_folders_in_memory_are_made_at_every_start_each_its_owners(tmp_path: Path) -> None:
    lines = deploy(tmp_path, "tmpfiles").output.splitlines()
    assert [line for line in lines if not line.startswith("#")] == [
        "d /run/dealtable 0755 root root -",
        "d /run/dealtable/T01 0700 dealtable dealtable -",
        "d /run/dealtable/T01.gateway 2710 dealtable dealtable-gateway -",
    ]


def test_systemd_makes_those_folders(tmp_path: Path, as_root: None) -> None:
    done = deploy(
        tmp_path,
        "tmpfiles",
        ('user = "dealtable"\n', 'user = "daemon"\n'),
        ('user = "dealtable-gateway"', 'user = "nobody"'),
    )
    text = done.output.replace("/run/", f"{tmp_path}/run/").replace("nobody", "nogroup")
    file = tmp_path / "x.conf"
    file.write_text(text)
    (tmp_path / "run").mkdir()
    subprocess.run(["systemd-tmpfiles", "--create", str(file)], check=True)
    folder = tmp_path / "run/dealtable"
    modes = {path.name: f"{path.stat().st_mode & 0o7777:04o}" for path in folder.iterdir()}
    assert modes == {"T01": "0700", "T01.gateway": "2710"}
    assert {path.owner() for path in folder.iterdir()} == {"daemon"}


def test_what_fits_the_units_is_said_nothing_of(tmp_path: Path) -> None:
    done = deploy(tmp_path, "check")
    assert (done.exit_code, done.output) == (0, "")


@pytest.mark.parametrize(
    ("before", "after", "key"),
    [
        ('user = "dealtable"\n', 'user = "pi"\n', "table.user"),
        ('user = "dealtable-gateway"', 'user = "pi"', "gateway.user"),
        ('"/var/lib/dealtable/T01"', '"/srv/T01"', "table.state_dir"),
        ('"/var/lib/dealtable/T01-gateway"', '"/srv/g"', "gateway.dir"),
        ('backend = "serial"', 'backend = "serial"\nruntime_dir = "/run/x"', "table.runtime_dir"),
    ],
)
def test_each_value_that_the_units_need_otherwise_is_named(
    tmp_path: Path, before: str, after: str, key: str
) -> None:
    done = deploy(tmp_path, "check", (before, after))
    assert done.exit_code == 2
    assert f": {key}: " in done.output
    assert len(done.output.splitlines()) == 1


def test_one_user_is_no_table_of_a_computers_own(tmp_path: Path) -> None:
    changes = ('user = "dealtable"\n', ""), ('user = "dealtable-gateway"', "")
    assert deploy(tmp_path, "udev", *changes).exit_code == 2
    assert "table.user: missing" in deploy(tmp_path, "check", *changes).output


def test_a_port_says_how_long_its_adapter_waits_where_it_does(tmp_path: Path) -> None:
    timer = tmp_path / "class/tty/ttyUSB7/device/latency_timer"
    timer.parent.mkdir(parents=True)
    timer.write_text("16\n")
    port = tmp_path / "table-reader"
    port.symlink_to("/dev/ttyUSB7")
    assert read_latency_ms(str(port), tmp_path) == 16
    assert read_latency_ms("/dev/ttyACM0", tmp_path) is None
    timer.write_text("nonsense")
    assert read_latency_ms(str(port), tmp_path) is None


@pytest.mark.parametrize(("found_ms", "told"), [(16, 2), (USB_LATENCY_MS, 0), (None, 0)])
def test_a_table_warns_of_an_adapter_that_waits_longer_than_it_was_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found_ms: int | None, told: int
) -> None:
    deploy(tmp_path, "check")
    monkeypatch.setattr("controller.service.machine_process.read_latency_ms", lambda port: found_ms)
    with structlog.testing.capture_logs() as logs:
        warn_about_latency(load_table(tmp_path / "T01.toml"))
    assert [line["log_level"] for line in logs] == ["warning"] * told
    assert {line["latency_ms"] for line in logs} <= {16}
