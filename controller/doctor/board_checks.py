"""Checks of the serial ports, their USB converters, the boards, and the panel's pins."""

from pathlib import Path
from typing import Final

from controller.config import BoardSection as BoardConfig
from controller.config import TableConfig
from controller.doctor.examination import DoctorFindings, amber, green, red, unknown
from controller.doctor.table_facts import BoardAnswer, DoctorFacts, PinFacts, PortFacts
from drivers.board_events import BoardKind
from drivers.firmware.version import FIRMWARE_VERSION
from drivers.link.frames import Welcome
from drivers.link.serial_port import USB_LATENCY_MS

BOARDS: Final[tuple[BoardKind, ...]] = ("dealer", "reader")
_KERNEL_NAMES: Final = ("/dev/tty", "/dev/serial")


def check_ports(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that each serial port exists, and that only the machine process can use it."""
    for board in BOARDS:
        yield from _check_port(f"{board} port", config, facts.ports[board], facts)


def _check_port(
    check: str, config: TableConfig, port: PortFacts, facts: DoctorFacts
) -> DoctorFindings:
    machine = facts.machine_pid
    user = config.table.user or "this user"
    where = port.path if port.device in ("", port.path) else f"{port.path} ({port.device})"
    others = [f"{one.name} ({one.pid})" for one in port.holders if one.pid != machine]
    if not port.device:
        do = "plug the board in, or correct its port; `dealtable deploy udev` makes the port's name"
        yield red(check, f"{port.path} is not there", do)
    elif not port.is_terminal:
        yield red(check, f"{where} is no serial port", "correct its port in the configuration")
    elif not port.is_usable:
        do = f"`dealtable deploy udev` gives it to {user}'s group; then plug the board in again"
        yield red(check, f"{where}: {user} may not read and write it", do)
    elif port.is_open_to_all:
        do = "chmod o-rw it; `dealtable deploy udev` makes it so for good"
        yield red(check, f"{where}: every user here could listen to the cards", do)
    elif others and facts.state_unreadable:
        what = f"whether {', '.join(others)}, which holds {where}, is the table's machine"
        yield unknown(check, what, "ask as root")
    elif others:
        yield red(check, f"{where} is held by {', '.join(others)}", "end that program")
    elif port.path.startswith(_KERNEL_NAMES) and config.table.backend == "serial":
        do = "name it by its board's USB serial number: `dealtable deploy udev`"
        yield amber(check, f"{port.path} is the kernel's name, which changes", do)
    elif machine is not None and any(one.pid == machine for one in port.holders):
        yield green(check, f"{where}, held by the machine ({machine})")
    elif port.holders_incomplete:
        yield unknown(check, f"who holds {where}, beside those who lock it", "ask as root")
    else:
        yield green(check, f"{where}, not in use")


def check_latency(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that no USB serial converter delays received bytes for more than USB_LATENCY_MS."""
    late = False
    for board in BOARDS:
        port = facts.ports[board]
        if port.latency_ms is not None and port.latency_ms > USB_LATENCY_MS:
            late = True
            what = f"{port.path} holds bytes back for {port.latency_ms} ms"
            do = "`dealtable deploy udev` sets 1 ms; then plug the adapter in again"
            yield red("latency", f"{what}: more than a card's whole time", do)
    away = [facts.ports[board].path for board in BOARDS if not facts.ports[board].device]
    if away and not late:
        what = f"the adapter of {' and '.join(away)}, which is not there"
        yield unknown("latency", what, "plug it in")
    elif not late:
        yield green("latency", f"no adapter holds bytes back for longer than {USB_LATENCY_MS} ms")


def check_boards(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that each board matches the configuration, and has the firmware of this release."""
    of: dict[BoardKind, BoardConfig] = {"dealer": config.dealer, "reader": config.reader}
    for board in BOARDS:
        if facts.ports[board].device:
            yield from _check_board(board, of[board], facts.answers[board], facts.program.firmware)
        else:
            yield unknown(f"{board} board", "its port is not there", "see its port above")


def _check_board(
    board: BoardKind, named: BoardConfig, answer: BoardAnswer, shipped: str
) -> DoctorFindings:
    check, welcome = f"{board} board", answer.welcome
    flash = f"put the shipped one there: dealtable flash --port {named.port} --board {board}"
    if answer.why_not_asked:
        yield unknown(check, answer.why_not_asked, "ask again when that is over")
    elif (
        answer.fault == "WRONG_FIRMWARE"
        and welcome is not None
        and tuple(map(int, welcome.firmware.split("."))) < FIRMWARE_VERSION
    ):
        # Every upgrade with new firmware causes this finding, so it must not be red, which would
        # refuse the upgrade.
        what = (
            f"{_board_text(welcome)}, of an older release: the table deals nothing (WRONG_FIRMWARE)"
        )
        yield amber(check, what, flash)
    elif answer.fault:
        yield red(check, f"{answer.fault}: {answer.cause}", answer.action)
    elif welcome is not None and welcome.firmware_hash != shipped:
        # The board matches the configuration, so the configuration names this firmware.
        what = (
            f"{_board_text(welcome)}: its firmware is {welcome.firmware_hash}, shipped is {shipped}"
        )
        yield amber(check, f"{what}; the configuration names it", flash)
    elif welcome is not None and welcome.hal == "adapter":
        do = "read what no adapter can promise: deploy/THREATS.md"
        yield amber(check, f"{_board_text(welcome)}: a bought part with an adapter before it", do)
    elif welcome is not None:
        yield green(
            check, f"{_board_text(welcome)}, as shipped, settings {welcome.settings_crc:08x}"
        )


def _board_text(welcome: Welcome) -> str:
    return f"{welcome.uid}, firmware {welcome.firmware}"


def check_pins(config: TableConfig, facts: DoctorFacts) -> DoctorFindings:
    """Check that `panel.pins` fits this table, and that the machine can use the panel's pins."""
    wanted, known = config.panel.pins, facts.pins
    if wanted == "lgpio":
        yield from _check_lgpio(known, config.table.user or "this user")
    elif config.table.backend == "serial":
        what = f'panel.pins = "{wanted}": no button, lid or emergency stop of this table is seen'
        yield red("pins", what, 'set panel.pins = "lgpio"')
    elif wanted == "mock":
        yield green("pins", "mock, as set in the file: the table has no panel")
    elif known.has_socket:
        yield green("pins", f"{wanted}: the simulated panel is there")
    else:
        what = f"{wanted}: no simulated panel is there"
        yield red("pins", what, "start its simulator: dealtable sim")


def _check_lgpio(known: PinFacts, user: str) -> DoctorFindings:
    chips = [Path(path).name for path, usable in known.chips if usable]
    if "Raspberry Pi" not in (known.model or ""):
        what = f'panel.pins = "lgpio", and this is no Raspberry Pi ({known.model or "unnamed"})'
        yield red("pins", what, "run the table on a Raspberry Pi, which has its pins")
    elif not known.chips:
        yield red("pins", "no /dev/gpiochip is there", "load the kernel's gpio module: reinstall")
    elif not chips:
        do = "`dealtable deploy udev` gives them to its group; then restart the computer"
        yield red("pins", f"{user} may not use {known.chips[0][0]}", do)
    elif known.lg_wd is False:
        do = "take the unit of deploy/units, which sets it"
        yield red("pins", "LG_WD is not set for the machine: lgpio finds no folder", do)
    elif known.lg_wd is None:
        do = "set LG_WD to runtime_dir where you start it, as the unit of deploy/units does"
        yield amber("pins", "LG_WD is not set here, and no unit is installed that sets it", do)
    else:
        yield green("pins", f"lgpio on {known.model}, {', '.join(chips)}")
