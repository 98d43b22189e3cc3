"""The table's front: buttons become orders and calls, the state becomes light."""

from collections.abc import Awaitable, Callable

from controller.machine.calling import end_calls
from controller.machine.cut_counter import CutCounter
from controller.machine.lamps import choose_lamps
from controller.machine.order.desk import CommandProcessor
from controller.machine.public.waiting import awaited_seats
from controller.machine.record import TableRecord
from controller.match.phase import BEFORE_RELEASE
from controller.messages import MachinePhase, Seat
from drivers.panel import (
    ButtonRole,
    Lamps,
    PanelDriver,
    PanelLost,
    PanelPins,
    Press,
    PressKind,
    SwitchChange,
)

_SWITCH_FAULTS = {"lid": "LID_OPENED", "estop": "ESTOP_PRESSED"}
_PANEL_FAULT = "PANEL_LOST"
RELEASE_DELAY_MS = 3000
"""So long hands are ready before a press lets them out (provisional)."""


class PanelControl:
    """The panel, kept in step with the table. `stopped` tells of an open lid or the e-stop.

    `cutters` says who may cut now; () for anybody. Without its pins a table deals on: the
    boards sense lid and e-stop themselves. The loss is shown, and the pins are tried again
    with the next start of the daemon.
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
        """Take the pins, or show that they cannot be had."""
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
        """Let the lamps say how the table is."""
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
        """Give the pins back."""
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
        """Take a green button. A cut is the number that stood there when it went down."""
        if act is PressKind.DOWN:
            self._cut_at_press = self._counter.number
        elif act is PressKind.HELD:
            self._desk.submit_press("out", seat=seat)
        elif end_calls(self._record, seat):
            self._record.journal.flush()
        else:
            self._confirm(seat)

    def _confirm(self, seat: Seat) -> None:
        """Take a short press: the match's matter first, then the machine's step.

        While a deal is played the next one may wait for its cut, by its cutter alone.
        """
        match, phase = self._record.match_written.match, self._phase()
        of_the_machine = match is None or match.phase in BEFORE_RELEASE
        asked = match is not None and not of_the_machine and seat in awaited_seats(match)
        cuts = phase is MachinePhase.COMMITTED and (of_the_machine or seat in self._cutters())
        if cuts and not asked and self._cut_at_press is not None:
            self._desk.submit_press("cut", n=self._cut_at_press, seat=seat)
        elif of_the_machine and phase is MachinePhase.HELD:
            self._release()
        elif match is not None:
            self._desk.submit_press("confirm", seat=seat)

    def _release(self) -> None:
        """Have the hands let out, but not by a press that was meant for the result before.

        Hands that were dealt ahead are ready in the moment when the second side confirms.
        """
        play, now_ms = self._record.match_written, self._record.clock()
        if play.match is None or now_ms - play.phase_since_ms >= RELEASE_DELAY_MS:
            self._desk.submit_press("release")

    def _on_panel_switch(self, switch: SwitchChange) -> None:
        if switch.on:
            self._report_switch(_SWITCH_FAULTS[switch.name])

    def _on_panel_lost(self, error: PanelLost) -> None:
        self.close()
        self._record.raise_fault(_PANEL_FAULT, {"found": error.why})
