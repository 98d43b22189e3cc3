"""The control of a table's panel: lamps, buzzer, cut counter and buttons."""

import asyncio
from collections.abc import Awaitable, Callable

from controller.machine.commands.command_processor import CommandProcessor
from controller.machine.public.awaited_seats import awaited_seats
from controller.machine.state.table_match import TableMatch
from controller.machine.state.table_state import CALLING_FAULTS, TableState
from controller.machine.table_calls import end_calls
from controller.machine.table_record import TableRecord
from controller.match.phase import BEFORE_RELEASE
from controller.messages import MachinePhase, Seat
from drivers.panel import (
    ButtonRole,
    LampMode,
    Lamps,
    PanelDriver,
    PanelLost,
    PanelPins,
    Press,
    PressKind,
    SwitchChange,
)

_READY_PHASES = frozenset({MachinePhase.EMPTY, MachinePhase.HELD, MachinePhase.RELEASED})
_MOVING_PHASES = frozenset({MachinePhase.CUT, MachinePhase.SHUFFLING, MachinePhase.DEALING})
_UNTIL_RELEASE = _MOVING_PHASES | {MachinePhase.HELD}


def choose_lamps(state: TableState, play: TableMatch, phase: MachinePhase) -> Lamps:
    """Return the mode (off, on or blinking) of each lamp and of the buzzer for a table's state.

    Red is on in the phase FAULT. Amber is on while the cut is awaited, and beside green while an
    uncut deal is dealt or held. Amber and buzzer blink if a referee is called. Green is on if there
    is no fault and no cut is awaited. It blinks while cards move.
    """
    is_uncut = bool(state.proofs) and state.proofs[-1].uncut
    waits = phase is MachinePhase.COMMITTED or (phase in _UNTIL_RELEASE and is_uncut)
    called = bool(state.calls or play.match_calls)
    referee = called or any(name in CALLING_FAULTS for name, _ in state.faults)
    return Lamps(
        red=LampMode.ON if phase is MachinePhase.FAULT else LampMode.OFF,
        amber=LampMode.BLINK if referee else LampMode.ON if waits else LampMode.OFF,
        green=LampMode.BLINK
        if phase in _MOVING_PHASES
        else LampMode.ON
        if phase in _READY_PHASES
        else LampMode.OFF,
        buzzer=LampMode.BLINK if referee else LampMode.OFF,
    )


STEP_INTERVAL_S = 0.1
"""Ten numbers a second."""


class CutCounter:
    """The counter that shows all legal cuts one after another, while a cut is awaited."""

    def __init__(self, cuts: range, on_step: Callable[[], None]) -> None:
        self.number: int | None = None
        self._cuts, self._on_step = cuts, on_step
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def set_running(self, running: bool) -> None:
        """Start the counter if `running` is True, otherwise stop it and set `number` to None."""
        if running and self._timer is None:
            self._step()
        elif not running and self._timer is not None:
            self._timer.cancel()
            self._timer = self.number = None

    def _step(self) -> None:
        last = self.number
        at_end = last is None or last + 1 not in self._cuts
        self.number = self._cuts[0] if at_end or last is None else last + 1
        self._timer = self._loop.call_later(STEP_INTERVAL_S, self._step)
        self._on_step()


_SWITCH_FAULTS = {"lid": "LID_OPENED", "estop": "ESTOP_PRESSED"}
_PANEL_FAULT = "PANEL_LOST"
RELEASE_DELAY_MS = 3000
"""Hands must be ready for this time before a press can release them (provisional)."""


class PanelControl:
    """The control of a table's buttons, switches and lamps.

    `on_switch` is called for an open lid or a pressed emergency stop. `cutters` returns the seats
    that may cut now, or () if any seat may cut. Without its pins a table continues to deal, because
    the boards have their own sensors for lid and emergency stop. The fault PANEL_LOST is shown, and
    the next start of the daemon tries the pins again.
    """

    def __init__(
        self,
        *,
        record: TableRecord,
        desk: CommandProcessor,
        counter: CutCounter,
        cutters: Callable[[], tuple[Seat, ...]],
        phase: Callable[[], MachinePhase],
        on_switch: Callable[[str], None],
    ) -> None:
        self._record, self._desk, self._phase, self._report_switch = record, desk, phase, on_switch
        self._counter, self._cutters = counter, cutters
        self._cut_at_press: int | None = None
        self._lamps_shown: Lamps | None = None
        self._panel: PanelDriver | None = None

    async def open(self, pins: PanelPins, factory: Callable[[], Awaitable[object]]) -> None:
        """Open `pins` of the pin factory from `factory`. On failure, raise the fault PANEL_LOST."""
        try:
            self._panel = PanelDriver(
                pins,
                await factory(),
                self._on_press,
                on_switch=self._on_panel_switch,
                on_lost=self._on_panel_lost,
            )
        except PanelLost as error:
            self._on_panel_lost(error)
        else:
            self._record.clear_fault(_PANEL_FAULT)
            self.show_lamps()

    def show_lamps(self) -> None:
        """Set the lamps according to the committed state of the table, if they must change."""
        if self._panel is None:
            return
        wanted = choose_lamps(self._record.state, self._record.match_committed, self._phase())
        if wanted == self._lamps_shown:
            return
        self._lamps_shown = wanted
        try:
            self._panel.set_lamps(wanted)
        except PanelLost as error:
            self._on_panel_lost(error)

    def close(self) -> None:
        """Close the pins."""
        if self._panel is not None:
            self._panel.close()
            self._panel = None

    def _on_press(self, press: Press) -> None:
        if press.role is ButtonRole.GREEN and press.seat is not None:
            self._on_green(press.seat, press.kind)
        elif press.kind is PressKind.DOWN and press.role is ButtonRole.START:
            self._desk.submit_press("start_deal")
        elif press.kind is PressKind.DOWN and press.seat is not None:
            self._desk.submit_press("call", seat=press.seat)

    def _on_green(self, seat: Seat, act: PressKind) -> None:
        """Handle a short or a long press of a seat's green button.

        A long press submits the command `out`: the player has no cards left. A short press ends the
        seat's call for a referee. Without a call, the present phase decides what it does.
        """
        if act is PressKind.DOWN:
            self._cut_at_press = self._counter.number
        elif act is PressKind.HELD:
            self._desk.submit_press("out", seat=seat)
        elif end_calls(self._record, seat):
            self._record.journal.flush()
        else:
            self._confirm(seat)

    def _confirm(self, seat: Seat) -> None:
        """Submit the command of a seat's short press in the present phase: cut, release or confirm.

        While a deal is played, the press confirms if the match awaits this seat. Otherwise it cuts
        the next deal, if this seat must. The cut is the number shown when the button went down.
        """
        match, phase = self._record.match_written.match, self._phase()
        of_the_machine = match is None or match.phase in BEFORE_RELEASE
        asked = match is not None and not of_the_machine and seat in awaited_seats(match)
        cuts = phase is MachinePhase.COMMITTED and (of_the_machine or seat in self._cutters())
        if cuts and not asked and self._cut_at_press is not None:
            self._desk.submit_press("cut", n=self._cut_at_press, seat=seat)
        elif of_the_machine and phase is MachinePhase.HELD:
            # Hands that were dealt ahead are ready at the moment when the second side confirms. A
            # press that was meant for that result must not release them.
            ready_ms = self._record.clock() - self._record.match_written.phase_since_ms
            if match is None or ready_ms >= RELEASE_DELAY_MS:
                self._desk.submit_press("release")
        elif match is not None:
            self._desk.submit_press("confirm", seat=seat)

    def _on_panel_switch(self, switch: SwitchChange) -> None:
        if switch.on:
            self._report_switch(_SWITCH_FAULTS[switch.name])

    def _on_panel_lost(self, error: PanelLost) -> None:
        self.close()
        self._record.raise_fault(_PANEL_FAULT, {"found": error.why})
