"""What THREATS.md says of the computer around the program is so in the code and in deploy/."""

import re

import pytest

from controller.commands.registry import COMMANDS
from controller.config import GatewaySection
from controller.console.console_config import ConsoleSettings
from controller.journal.entry_kinds import ENTRY_KINDS
from controller.messages import Role
from tests.deploy.test_pages import DEPLOY

ROWS = {
    name: {"does": does, "left": left}
    for name, does, left in re.findall(
        r"(?m)^\| \*\*(.+?)\*\* \| (.+?) \| (.+?) \|$", (DEPLOY / "THREATS.md").read_text("utf-8")
    )
}
SCRIPTS = "".join(path.read_text("utf-8") for path in sorted(DEPLOY.glob("*.sh")))
UNITS = {path.stem: path.read_text("utf-8") for path in (DEPLOY / "units").glob("*.service")}


def test_each_threat_says_what_is_done_and_what_is_left() -> None:
    assert list(ROWS) == [
        "A foreign device at a USB port",
        "A USB stick",
        "SSH",
        "Boot media",
        "The clock",
        "The network, without a firewall",
        "Lost keys: the back-up",
        "pip and the libraries",
        "Players and referee who act together",
    ]


def test_the_ports_that_a_firewall_leaves_open_are_the_gateways() -> None:
    said = re.findall(r"\d{4}", ROWS["The network, without a firewall"]["does"])
    gateway = GatewaySection()
    assert [end.rpartition(":")[2] for end in (gateway.feed, gateway.commands)] == said
    assert gateway.feed.startswith("tcp://*:")
    assert gateway.metrics.startswith("tcp://127.0.0.1:")
    assert ConsoleSettings().host == "127.0.0.1"


@pytest.mark.parametrize("word", ["sshd", "nft", "iptables", "ufw", "usbguard", "mount "])
def test_what_is_left_to_the_installer_no_script_does(word: str) -> None:
    assert word not in SCRIPTS


def test_pip_has_no_index_and_no_list_of_hashes() -> None:
    assert "--no-index" in SCRIPTS
    assert "--require-hashes" not in SCRIPTS


def test_no_unit_sets_the_clock_and_the_machine_reaches_the_named_kinds_of_devices() -> None:
    assert all("ProtectClock=yes" in unit for unit in UNITS.values())
    kinds = set(re.findall(r"DeviceAllow=char-(\w+)", UNITS["dealtable-machine@"]))
    assert kinds == {"ttyACM", "ttyUSB", "gpiochip"}
    assert all(kind in ROWS["A foreign device at a USB port"]["does"] for kind in kinds)


def test_a_referee_can_enter_what_no_sensor_sees() -> None:
    for cmd in ("result", "confirm", "sign"):
        assert Role.REFEREE in COMMANDS[cmd].roles
    assert not any("play" in kind or "trick" in kind for kind in ENTRY_KINDS)
