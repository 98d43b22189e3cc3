"""The panel: buttons, switches, stack light and buzzer, on GPIO pins.

gpiozero only reports edges and sets levels. The running loop does the debouncing, detects long
presses and makes lamps blink, because gpiozero would use threads and the wall clock for this. The
caller passes the pin factory. gpiozero's own choice is not used, because it falls back from one
library to the next.

Each edge has the time at which the contact moved. The loop judges contacts by these times. A press
that begins and ends while the loop is busy is therefore still one press, and its own length decides
whether it is short or held.
"""

import asyncio
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Literal

import gpiozero
from msgspec import Struct
from msgspec.structs import asdict

from drivers.errors import DriverError

# A contact counts when it has been stable for this time, and as held after LONG_PRESS_S.
DEBOUNCE_S = 0.020
LONG_PRESS_S = 1.5
# Half a period of a blinking lamp.
BLINK_INTERVAL_S = 0.5

Seat = Literal["N", "W", "S", "E"]


class PanelLost(DriverError):
    """The pins of the panel can no longer be opened, read or set."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the panel's pins cannot be used: {why}")
        self.why = why


class PanelPins(Struct, frozen=True):
    """The GPIO number of each wire of the panel.

    All inputs are contacts to ground, pulled up. A button closes its contact when it is pressed.
    The contacts of lid and e-stop are closed in the safe state. A broken wire therefore reads as an
    open lid or a pressed e-stop.
    """

    lid: int = 5
    estop: int = 6
    start: int = 13
    north_green: int = 17
    north_red: int = 27
    west_green: int = 22
    west_red: int = 10
    south_green: int = 9
    south_red: int = 11
    east_green: int = 19
    east_red: int = 26
    lamp_red: int = 16
    lamp_amber: int = 20
    lamp_green: int = 21
    buzzer: int = 12


class ButtonRole(Enum):
    """The purpose of a button: to confirm (GREEN), call the referee (RED) or start (START)."""

    GREEN = "green"
    RED = "red"
    START = "start"


class PressKind(Enum):
    """The stages of a button press that the panel reports.

    DOWN comes at once. SHORT follows at the end of a short press, or HELD after 1.5 s.
    """

    DOWN = "down"
    SHORT = "short"
    HELD = "held"


class Press(Struct, frozen=True):
    """One stage of a button press. `seat` is None for the start button."""

    role: ButtonRole
    seat: Seat | None
    kind: PressKind


class SwitchChange(Struct, frozen=True):
    """A change of the lid's switch or of the e-stop. `on` means an open lid or a pressed e-stop."""

    name: Literal["lid", "estop"]
    on: bool


class LampMode(Enum):
    """The state of a lamp or of the buzzer: off, on or blinking."""

    OFF = "off"
    ON = "on"
    BLINK = "blink"


class Lamps(Struct, frozen=True):
    """The states of the lamps of the stack light and of the buzzer."""

    red: LampMode = LampMode.OFF
    amber: LampMode = LampMode.OFF
    green: LampMode = LampMode.OFF
    buzzer: LampMode = LampMode.OFF


BUTTONS: dict[str, tuple[ButtonRole, Seat | None]] = {
    "start": (ButtonRole.START, None),
    "north_green": (ButtonRole.GREEN, "N"),
    "north_red": (ButtonRole.RED, "N"),
    "west_green": (ButtonRole.GREEN, "W"),
    "west_red": (ButtonRole.RED, "W"),
    "south_green": (ButtonRole.GREEN, "S"),
    "south_red": (ButtonRole.RED, "S"),
    "east_green": (ButtonRole.GREEN, "E"),
    "east_red": (ButtonRole.RED, "E"),
}
SWITCHES: tuple[Literal["lid", "estop"], ...] = ("lid", "estop")
LAMP_PINS = {"red": "lamp_red", "amber": "lamp_amber", "green": "lamp_green", "buzzer": "buzzer"}


class _Contact:
    """One button or switch, which is debounced in the event loop.

    Its pin may report changes in any thread, each with its own time. `on_change(closed, at_s)`
    receives each debounced change, with the time of the last change of the pin.
    """

    def __init__(
        self,
        device: gpiozero.InputDevice,
        loop: asyncio.AbstractEventLoop,
        clock: Callable[[], float],
        on_change: Callable[[bool, float], None],
        on_failure: Callable[[Exception], None],
    ) -> None:
        self.device, self._loop, self._clock = device, loop, clock
        self._on_change, self._on_failure = on_change, on_failure
        self._debounce_timer: asyncio.TimerHandle | None = None
        self._level_differed = False
        self._is_released = False
        try:
            device.pin.edges = "both"
            device.pin.when_changed = self._on_edge
            self.is_closed = self.is_closed_unsettled = bool(device.is_active)
        except BaseException:
            device.close()
            raise
        self.last_edge_s = clock() - DEBOUNCE_S

    def _on_edge(self, ticks: float, level: int) -> None:
        """Pass a change of the pin to the event loop, with its time and the new level.

        The pin library calls this method in its own thread, with the time of the change in ticks of
        the pin factory and the new level.
        """
        factory = self.device.pin_factory
        # A thread may run late. If the kernel gives the time of an edge, the ticks are that time.
        # Before Linux 5.7 that time came from another clock, which was later than this one.
        age_s = max(0.0, factory.ticks_diff(factory.ticks(), ticks))
        self._loop.call_soon_threadsafe(self._receive_edge, self._clock() - age_s, not level)

    def _receive_edge(self, at_s: float, closed: bool) -> None:
        if self._is_released or closed == self.is_closed_unsettled:
            return
        if at_s - self.last_edge_s >= DEBOUNCE_S:
            self._accept_level()
            if self._is_released:
                return
        self._begin_debounce(at_s, closed)

    def _begin_debounce(self, at_s: float, closed: bool) -> None:
        self.is_closed_unsettled, self.last_edge_s, self._level_differed = closed, at_s, False
        self._schedule_check(at_s + DEBOUNCE_S)

    def _schedule_check(self, until_s: float) -> None:
        if self._debounce_timer is not None:
            self._debounce_timer.cancel()
        # Edges that came while the loop was busy are in its queue, and are handled first.
        after_s = max(0.0, until_s - self._clock())
        self._debounce_timer = self._loop.call_later(
            after_s, self._loop.call_soon, self._on_quiet, self.last_edge_s
        )

    def _on_quiet(self, edge_s: float) -> None:
        if self._is_released or edge_s != self.last_edge_s:
            return
        try:
            closed = bool(self.device.is_active)
        except Exception as error:  # Each pin library raises its own exception types.
            self._on_failure(error)
            return
        if closed == self.is_closed_unsettled:
            self._accept_level()
        # The library dropped an edge, and the time of that edge is unknown.
        elif self._level_differed:
            self._begin_debounce(self._clock(), closed)
        else:  # An edge is still in the library's thread.
            self._level_differed = True
            self._schedule_check(self._clock() + DEBOUNCE_S)

    def _accept_level(self) -> None:
        if self.is_closed != self.is_closed_unsettled:
            self.is_closed = self.is_closed_unsettled
            self._on_change(self.is_closed, self.last_edge_s)

    def close(self) -> None:
        if self._is_released:
            return
        self._is_released = True
        self.device.pin.when_changed = None
        if self._debounce_timer is not None:
            self._debounce_timer.cancel()
        self.device.close()


class PanelDriver:
    """The driver of one table's buttons, switches, lamps and buzzer.

    The pins are those of `factory`, a pin factory of gpiozero. `on_press` receives every Press,
    `on_switch` every change of lid and e-stop, both on the loop that runs when the panel is made.
    `on_lost` is called once when a pin fails outside a call. `clock` gives the times of pin changes
    in seconds. It is called in any thread. The default is the clock of the loop; tests may pass
    another. Raises PanelLost when a pin is not available. `set_lamps` raises PanelLost when a lamp
    cannot be set.
    """

    def __init__(
        self,
        pins: PanelPins,
        factory: object,
        on_press: Callable[[Press], None],
        *,
        on_switch: Callable[[SwitchChange], None] = lambda switch: None,
        on_lost: Callable[[PanelLost], None] = lambda error: None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._clock = clock or self._loop.time
        self._on_press, self._on_switch, self._on_lost = on_press, on_switch, on_lost
        self._contacts: dict[str, _Contact] = {}
        self._outputs: dict[str, gpiozero.DigitalOutputDevice] = {}
        self._pressed_at_s: dict[str, float] = {}
        """When each button went down that is neither up again nor held."""
        self._hold_timers: dict[str, asyncio.TimerHandle] = {}
        self._lamps = Lamps()
        self._lit_lamps = dict.fromkeys(LAMP_PINS, False)
        self._is_blink_lit = True
        self._blink_timer: asyncio.TimerHandle | None = None
        self._has_failed = False
        try:
            self._open(asdict(pins), factory)
        except Exception as error:  # Each pin library raises its own exception types.
            self.close()
            raise PanelLost(str(error)) from error

    def set_lamps(self, lamps: Lamps) -> None:
        """Set the stack light and the buzzer to the states in `lamps`. Raises PanelLost."""
        self._lamps = lamps
        if self._blink_timer is None:
            self._is_blink_lit = True
        try:
            self._set_outputs()
        except Exception as error:  # Each pin library raises its own exception types.
            self._has_failed = True
            self._stop_blinking()
            raise PanelLost(str(error)) from error
        if LampMode.BLINK not in asdict(lamps).values():
            self._stop_blinking()
        elif self._blink_timer is None:
            self._blink_timer = self._loop.call_later(BLINK_INTERVAL_S, self._blink)

    def close(self) -> None:
        """Free every pin and cancel every timer. May be called twice."""
        self._stop_blinking()
        for timer in self._hold_timers.values():
            timer.cancel()
        self._hold_timers.clear()
        self._pressed_at_s.clear()
        for contact in self._contacts.values():
            contact.close()
        for output in self._outputs.values():
            output.close()
        self._outputs.clear()

    def _open(self, numbers: dict[str, int], factory: object) -> None:
        handlers: dict[str, Callable[[bool, float], None]] = {
            **{name: partial(self._on_switch_moved, name) for name in SWITCHES},
            **{name: partial(self._on_button, name) for name in BUTTONS},
        }
        for name, handler in handlers.items():
            device = gpiozero.InputDevice(numbers[name], pull_up=True, pin_factory=factory)
            self._contacts[name] = _Contact(device, self._loop, self._clock, handler, self._fail)
        for lamp, name in LAMP_PINS.items():
            self._outputs[lamp] = gpiozero.DigitalOutputDevice(numbers[name], pin_factory=factory)

    def _on_switch_moved(self, name: Literal["lid", "estop"], closed: bool, at_s: float) -> None:
        if not self._has_failed:
            self._on_switch(SwitchChange(name, not closed))

    def _on_button(self, name: str, pressed: bool, at_s: float) -> None:
        if self._has_failed:
            return
        if pressed:
            self._pressed_at_s[name] = at_s
            self._schedule_hold(name, at_s + LONG_PRESS_S + DEBOUNCE_S)
            self._report_press(name, PressKind.DOWN)
        elif name in self._pressed_at_s:
            self._end_press(
                name, PressKind.HELD if self._is_long_press(name, at_s) else PressKind.SHORT
            )

    def _is_long_press(self, name: str, until_s: float) -> bool:
        return until_s - self._pressed_at_s[name] >= LONG_PRESS_S

    def _schedule_hold(self, name: str, until_s: float) -> None:
        # Edges that came while the loop was busy are in its queue, and are handled first.
        after_s = max(0.0, until_s - self._clock())
        self._hold_timers[name] = self._loop.call_later(
            after_s, self._loop.call_soon, self._report_hold, name, self._pressed_at_s[name]
        )

    def _report_hold(self, name: str, pressed_s: float) -> None:
        """Report HELD for button `name` if the press that began at `pressed_s` still lasts.

        If the button was released too early, wait until the release is debounced.
        """
        if self._pressed_at_s.get(name) != pressed_s:
            return
        contact = self._contacts[name]
        if contact.is_closed_unsettled or self._is_long_press(name, contact.last_edge_s):
            self._end_press(name, PressKind.HELD)
        else:
            self._schedule_hold(name, self._clock() + DEBOUNCE_S)

    def _end_press(self, name: str, kind: PressKind) -> None:
        del self._pressed_at_s[name]
        self._hold_timers.pop(name).cancel()
        self._report_press(name, kind)

    def _report_press(self, name: str, kind: PressKind) -> None:
        key, seat = BUTTONS[name]
        self._on_press(Press(key, seat, kind))

    def _set_outputs(self) -> None:
        for lamp, light in asdict(self._lamps).items():
            lit = light is LampMode.ON or (light is LampMode.BLINK and self._is_blink_lit)
            if lit != self._lit_lamps[lamp]:
                output = self._outputs[lamp]
                (output.on if lit else output.off)()
                self._lit_lamps[lamp] = lit

    def _blink(self) -> None:
        self._blink_timer = self._loop.call_later(BLINK_INTERVAL_S, self._blink)
        self._is_blink_lit = not self._is_blink_lit
        try:
            self._set_outputs()
        except Exception as error:  # Each pin library raises its own exception types.
            self._fail(error)

    def _stop_blinking(self) -> None:
        if self._blink_timer is not None:
            self._blink_timer.cancel()
            self._blink_timer = None

    def _fail(self, error: Exception) -> None:
        self._stop_blinking()
        if not self._has_failed:
            self._has_failed = True
            self._on_lost(PanelLost(str(error)))
