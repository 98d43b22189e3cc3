"""The table's front: buttons become orders and calls, the state becomes light."""

from collections.abc import Awaitable, Callable
from typing import Any

from controller.machine.lamps import lamps
from controller.machine.orders import OrderDesk
from controller.machine.record import Record
from controller.messages import Phase
from drivers.panel import Act, Key, Lamps, Panel, PanelLost, PanelPins, Press, Switch

_STOPS = {"lid": "LID_OPENED", "estop": "ESTOP_PRESSED"}
_LATCHED = "PANEL_LOST"


class Front:
    """The panel, kept in step with the table. `broken` ends the attempt under way.

    Without its pins a table deals on: the boards sense lid and e-stop themselves. The
    loss is shown, and the pins are tried again with the next start of the daemon.
    """

    def __init__(
        self,
        *,
        record: Record,
        desk: OrderDesk,
        phase: Callable[[], Phase],
        broken: Callable[[str], None],
    ) -> None:
        self._record, self._desk, self._phase, self._broken = record, desk, phase, broken
        self._shown: Lamps | None = None
        self._panel: Panel | None = None

    async def open(self, pins: PanelPins, factory: Callable[[], Awaitable[object]]) -> None:
        """Take the pins, or show that they cannot be had."""
        try:
            self._panel = Panel(
                pins, await factory(), self._press, on_switch=self._switch, on_lost=self._lost
            )
        except PanelLost as error:
            self._lost(error)
        else:
            self._record.clear(_LATCHED)
            self.show()

    def show(self) -> None:
        """Let the lamps say how the table is."""
        wanted = lamps(self._record.state, self._phase())
        if self._panel is None or wanted == self._shown:
            return
        self._shown = wanted
        try:
            self._panel.show(wanted)
        except PanelLost as error:
            self._lost(error)

    def close(self) -> None:
        """Give the pins back."""
        if self._panel is not None:
            self._panel.close()
            self._panel = None

    def _press(self, press: Press) -> None:
        if press.act is not Act.DOWN:
            return
        if press.key is Key.START:
            self._desk.press("start_deal")
        elif press.key is Key.RED:
            self._write("call", {"seat": press.seat, "reason": "button"})
        elif any(call.seat == press.seat for call in self._record.state.calls):
            self._write("call_ended", {"seat": press.seat})

    def _switch(self, switch: Switch) -> None:
        if switch.on:
            self._broken(_STOPS[switch.what])

    def _lost(self, error: PanelLost) -> None:
        self.close()
        self._record.latch(_LATCHED, {"found": error.why})

    def _write(self, kind: str, data: dict[str, Any]) -> None:
        state = self._record.state
        self._record.write(kind, data, deal=state.deal, attempt=None)
        self._record.journal.flush()
