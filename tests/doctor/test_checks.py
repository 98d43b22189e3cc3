"""Each line of the page: green where all is well, and right about what is not."""

from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from controller.config import GatewaySection, TableConfig
from controller.doctor.doctor_checks import DOCTOR_CHECKS, run_checks, worst_light
from controller.doctor.examination import DoctorFinding, FindingLight, amber, green
from controller.doctor.table_facts import (
    BoardAnswer,
    DoctorFacts,
    FeedFacts,
    KeyFacts,
    LibraryFacts,
    MemoryFacts,
    PortFacts,
    PortHolder,
    PythonFacts,
    SupplyFacts,
)
from drivers.board_events import BoardKind
from tests.doctor.healthy import CONFIG, FACTS, SHIPPED, UNITS, welcome

GREEN, AMBER, RED, UNKNOWN = (
    FindingLight.GREEN,
    FindingLight.AMBER,
    FindingLight.RED,
    FindingLight.UNKNOWN,
)


def found(facts: DoctorFacts, config: TableConfig = CONFIG) -> list[DoctorFinding]:
    return [one for part in run_checks(config, facts).values() for one in part]


def about(check: str, facts: DoctorFacts, config: TableConfig = CONFIG) -> list[DoctorFinding]:
    return [one for one in found(facts, config) if one.check == check]


def of(**changed: Any) -> DoctorFacts:
    """Return the facts of the healthy table with parts of them changed."""
    parts = {
        name: replace(getattr(FACTS, name), **part) if isinstance(part, dict) else part
        for name, part in changed.items()
    }
    return replace(FACTS, **parts)


def dealer(**changed: Any) -> DoctorFacts:
    """Return the facts with another port of the dealer board."""
    port = replace(FACTS.ports["dealer"], **changed)
    return replace(FACTS, ports=FACTS.ports | {"dealer": port})


def board(**changed: Any) -> DoctorFacts:
    """Return the facts with another answer at the dealer board's port."""
    return replace(FACTS, answers=FACTS.answers | {"dealer": BoardAnswer(**changed)})


def service(**changed: str) -> DoctorFacts:
    """Return the facts with another state of the machine's service."""
    assert FACTS.services is not None
    first, second = FACTS.services
    return replace(FACTS, services=(replace(first, **changed), second))


def test_a_healthy_table_is_green_but_for_what_only_another_computer_can_know() -> None:
    lights = {one.check: one.light for one in found(FACTS)}
    assert {check for check, light in lights.items() if light is not GREEN} == {"firewall"}
    assert lights["firewall"] is UNKNOWN
    assert worst_light(run_checks(CONFIG, FACTS)) is GREEN


def test_every_check_says_something_whatever_is_known() -> None:
    nothing = of(
        memory=MemoryFacts(),
        supply=SupplyFacts(),
        services=None,
        feed=FeedFacts(),
        clock={"synchronized": None},
        keys=KeyFacts(closed_folder="/var/lib/dealtable/T01"),
    )
    away: dict[BoardKind, PortFacts] = {
        "dealer": PortFacts("/dev/a"),
        "reader": PortFacts("/dev/b"),
    }
    for facts in (FACTS, nothing, replace(nothing, ports=away)):
        for checks in DOCTOR_CHECKS.values():
            assert all(list(check(CONFIG, facts)) for check in checks)


Case = tuple[DoctorFacts, str, FindingLight, str]
CASES: list[Case] = [
    (of(python=PythonFacts((3, 10, 1), 64, "aarch64")), "python", RED, "older than 3.11"),
    (of(python=PythonFacts((3, 11, 2), 32, "armv7l")), "python", RED, "32 bit"),
    (of(python=PythonFacts((3, 11, 2), 64, "riscv64")), "python", AMBER, "riscv64"),
    (
        of(libraries=(LibraryFacts("lgpio", trouble="no module"),)),
        "wheels",
        RED,
        "lgpio cannot be imported",
    ),
    (of(libraries=(LibraryFacts("zmq", "26.0", curve=False),)), "wheels", RED, "no CURVE"),
    (of(program={"release": None}), "release", AMBER, "of no release"),
    (of(program={"trouble": "manifest.json: no JSON"}), "release", RED, "no JSON"),
    (of(program={"differences": ("a.py: changed",) * 5}), "release", RED, "and 2 more"),
    (of(program={"version": "0.2.0"}), "release", RED, "0.2.0 is installed"),
    (
        of(program={"release": replace(FACTS.program.release, signed=None)}),  # type: ignore[type-var]  # it has one
        "release",
        AMBER,
        "the signature was not checked",
    ),
    (dealer(device=""), "dealer port", RED, "/dev/table-dealer is not there"),
    (dealer(device=""), "dealer board", UNKNOWN, "port is not there"),
    (dealer(is_terminal=False), "dealer port", RED, "no serial port"),
    (dealer(is_usable=False), "dealer port", RED, "dealtable may not read and write"),
    (dealer(is_open_to_all=True), "dealer port", RED, "could listen to the cards"),
    (dealer(holders=(PortHolder(7, "ModemManager"),)), "dealer port", RED, "ModemManager (7)"),
    (
        replace(
            dealer(holders=(PortHolder(7, "dealtable", has_lock=True),)), state_unreadable=True
        ),
        "dealer port",
        UNKNOWN,
        "whether dealtable (7)",
    ),
    (dealer(path="/dev/ttyACM0"), "dealer port", AMBER, "the kernel's name"),
    (dealer(holders_incomplete=True), "dealer port", UNKNOWN, "who holds"),
    (dealer(latency_ms=16), "latency", RED, "for 16 ms"),
    (dealer(device=""), "latency", UNKNOWN, "not there"),
    (
        board(fault="BOARDS_SWAPPED", cause="in each other's place", action="Swap their cables"),
        "dealer board",
        RED,
        "BOARDS_SWAPPED",
    ),
    (
        board(welcome=welcome("dealer", "0" * 16, firmware_hash="00" * 8)),
        "dealer board",
        AMBER,
        f"shipped is {SHIPPED}; the configuration names it",
    ),
    (
        board(
            welcome=welcome("dealer", "0" * 16, firmware_hash="00" * 8, firmware="0.0.9"),
            fault="WRONG_FIRMWARE",
        ),
        "dealer board",
        AMBER,
        "of an older release",
    ),
    (
        board(
            welcome=welcome("dealer", "0" * 16, firmware_hash="00" * 8),
            fault="WRONG_FIRMWARE",
            cause="another firmware",
            action="Flash it",
        ),
        "dealer board",
        RED,
        "WRONG_FIRMWARE: another firmware",
    ),
    (
        board(welcome=welcome("dealer", "0" * 16, hal="adapter")),
        "dealer board",
        AMBER,
        "a bought part",
    ),
    (board(why_not_asked="the table runs"), "dealer board", UNKNOWN, "the table runs"),
    (of(pins={"model": None}), "pins", RED, "no Raspberry Pi"),
    (of(pins={"chips": ()}), "pins", RED, "no /dev/gpiochip"),
    (of(pins={"chips": (("/dev/gpiochip0", False),)}), "pins", RED, "may not use"),
    (of(pins={"lg_wd": False}), "pins", RED, "LG_WD"),
    (of(pins={"lg_wd": None}), "pins", AMBER, "LG_WD"),
    (of(clock={"synchronized": False}), "clock", AMBER, "not synchronized"),
    (of(clock={"synchronized": None}), "clock", UNKNOWN, "keeps it right"),
    (of(clock={"now": datetime(2027, 2, 1, tzinfo=UTC)}), "clock", RED, "before this release"),
    (of(disk={"is_read_only": True}), "disk", RED, "read-only"),
    (of(disk={"is_writable": False}), "disk", RED, "may not write"),
    (of(disk={"free_bytes": 1 << 20}), "disk", RED, "0.0 GiB"),
    (of(disk={"free_bytes": 200 << 20}), "disk", AMBER, "0.2 GiB"),
    (of(disk={"exists": False, "is_writable": False}), "disk", AMBER, "not there yet"),
    (of(memory={"runtime_on": "ext4"}), "runtime_dir", RED, "ext4"),
    (of(memory={"runtime_on": None}), "runtime_dir", UNKNOWN, "the file system of"),
    (of(memory={"swaps": ("/var/swap",)}), "swap", RED, "/var/swap"),
    (of(memory={"swaps": None}), "swap", UNKNOWN, "swapped"),
    (of(memory={"core_limit": "unlimited unlimited"}), "core dumps", RED, "unlimited"),
    (of(memory={"core_pattern": "|/usr/bin/apport %p"}), "core dumps", AMBER, "/usr/bin/apport"),
    (of(memory={"core_pattern": None}), "core dumps", UNKNOWN, "where they go"),
    (of(supply=SupplyFacts()), "supply", UNKNOWN, "voltage"),
    (of(supply={"throttled": 0x50005}), "supply", RED, "too low now"),
    (of(supply={"throttled": None, "has_alarm": True}), "supply", RED, "too low now"),
    (of(supply={"throttled": 0x4}), "supply", RED, "slower now"),
    (of(supply={"throttled": 0x50000}), "supply", AMBER, "since the start"),
    (of(supply=SupplyFacts()), "temperature", UNKNOWN, "no sensor"),
    (of(supply={"celsius": 81.0}), "temperature", RED, "81 °C"),
    (of(supply={"celsius": 75.0}), "temperature", AMBER, "75 °C"),
    (of(users_problem="state_dir is open to others"), "users", RED, "open to others"),
    (of(keys=KeyFacts(closed_folder="/var/lib")), "keys", UNKNOWN, "/var/lib"),
    (of(keys=KeyFacts(are_missing=True)), "keys", AMBER, "none yet"),
    (of(keys={"trouble": "table.sign: is not there"}), "keys", RED, "table.sign"),
    (of(keys={"chiefs": 0}), "keys", RED, "no chief"),
    (of(keys={"expired": ("anna",)}), "keys", AMBER, "anna is over"),
    (of(keys={"expiring": ("anna",)}), "keys", AMBER, "within a week"),
    (of(services=None), "services", UNKNOWN, "systemd"),
    (service(load="not-found"), "services", AMBER, "not installed"),
    (service(active="failed"), "services", RED, "has failed"),
    (service(active="inactive"), "services", AMBER, "does not run"),
    (service(enabled="disabled"), "services", AMBER, "not again"),
    (of(feed=FeedFacts()), "feed", UNKNOWN, "no gateway"),
    (of(feed=FeedFacts(taken_addresses=("tcp://*:5556",))), "feed", RED, "tcp://*:5556"),
    (of(feed={"trouble": "no answer there"}), "feed", RED, "no answer there"),
    (of(feed={"has_no_key": True}), "feed", UNKNOWN, "is this table's gateway"),
    (of(feed={"alerts": ("LID_OPENED",)}), "feed", AMBER, "LID_OPENED"),
]


def test_what_is_wrong_is_said_with_the_next_action(subtests: pytest.Subtests) -> None:
    for facts, check, light, words in CASES:
        with subtests.test(f"{check} {light} {words}"):
            assert all(one.light is GREEN for one in about(check, FACTS))
            one = next(one for one in about(check, facts) if one.light is not GREEN)
            assert one.light is light
            assert words in one.text
            assert one.do


def test_every_check_has_been_seen_in_another_light_than_green() -> None:
    seen = {check for _, check, _, _ in CASES} | {"firewall"}
    assert seen >= {one.check for one in found(FACTS)} - {"reader port", "reader board"}


@pytest.mark.parametrize("pins", ["mock", "unix:/run/pins"])
def test_a_real_table_without_its_pins_is_red(pins: str) -> None:
    config = replace(CONFIG, panel=replace(CONFIG.panel, pins=pins))
    (one,) = about("pins", FACTS, config)
    assert (one.light, one.do) == (RED, 'set panel.pins = "lgpio"')
    simulated = replace(config, table=replace(CONFIG.table, backend="sim"))
    (one,) = about("pins", of(pins={"has_socket": True}), simulated)
    assert one.light is GREEN


def test_a_simulated_panel_that_is_not_there_is_red() -> None:
    config = replace(
        CONFIG,
        panel=replace(CONFIG.panel, pins="unix:/run/pins"),
        table=replace(CONFIG.table, backend="sim"),
    )
    (one,) = about("pins", of(pins={"has_socket": False}), config)
    assert one.light is RED


def test_a_port_that_the_tables_own_machine_holds_is_as_it_should_be() -> None:
    facts = replace(
        dealer(holders=(PortHolder(41, "dealtable", has_lock=True),), holders_incomplete=True),
        machine_pid=41,
    )
    (one,) = about("dealer port", facts)
    assert one.light is GREEN
    assert "held by the machine (41)" in one.text


def test_one_user_for_both_processes_is_amber() -> None:
    config = replace(CONFIG, gateway=GatewaySection(), table=replace(CONFIG.table, user=None))
    (one,) = about("users", FACTS, config)
    assert one.light is AMBER


def test_a_feed_that_only_this_computer_reaches_is_amber_at_a_real_table() -> None:
    config = replace(CONFIG, gateway=replace(CONFIG.gateway, feed="tcp://127.0.0.1:5556"))
    lights = [one.light for one in about("feed", of(feed=FeedFacts()), config)]
    assert lights == [AMBER, UNKNOWN]


def test_the_verdict_is_the_worst_light() -> None:
    red_one = of(memory={"swaps": ("/var/swap",)}, clock={"synchronized": False})
    assert worst_light(run_checks(CONFIG, red_one)) is RED
    assert worst_light(run_checks(CONFIG, of(clock={"synchronized": False}))) is AMBER
    assert worst_light(run_checks(CONFIG, of(services=None))) is GREEN


def test_no_light_asks_for_something_without_saying_what() -> None:
    with pytest.raises(ValueError, match="next action"):
        amber("swap", "on", "")
    assert green("swap", "off").do == ""


def test_the_services_names_are_those_of_the_units() -> None:
    assert {one.text.split()[0] for one in about("services", FACTS)} == set(UNITS)
