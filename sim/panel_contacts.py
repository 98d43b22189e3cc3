"""The button contacts and the lamps of a simulated panel (`PanelContacts`)."""

from collections.abc import Callable, Mapping
from typing import Final

from sim.mechanics.world import World

# The GPIO number of each wire, as in the default [panel] section of a table.
BUTTONS: Final[Mapping[str, int]] = {
    "start": 13,
    "north_green": 17,
    "north_red": 27,
    "west_green": 22,
    "west_red": 10,
    "south_green": 9,
    "south_red": 11,
    "east_green": 19,
    "east_red": 26,
}
SWITCHES: Final[Mapping[str, int]] = {"lid": 5, "estop": 6}
LAMPS: Final[Mapping[str, int]] = {"lamp_red": 16, "lamp_amber": 20, "lamp_green": 21, "buzzer": 12}
# The time that a tap presses a button.
TAP_MS = 150.0

LevelListener = Callable[[int, bool], None]
LampListener = Callable[[str, bool], None]


class NoSuchButton(ValueError):
    """An error for a button or contact that the panel does not have. The text is one line."""


class PanelContacts:
    """The contacts and lamps of a simulated panel. Open contacts are high, closed ones are low.

    A button's contact is closed while the button is pressed. The contacts of lid and emergency stop
    change with the world. These two are closed in the safe state.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.levels = dict.fromkeys(BUTTONS.values(), True)
        self.lamps = dict.fromkeys(LAMPS, False)
        self._level_listeners: list[LevelListener] = []
        self._lamp_listeners: list[LampListener] = []
        self._unwatch = world.dealer.observe(self._follow_switch)
        self._set_level(SWITCHES["lid"], world.lid_open)
        self._set_level(SWITCHES["estop"], world.estop)

    def press(self, name: str) -> None:
        """Close the contact of a button. Raises NoSuchButton."""
        self._set_level(self._button(name), False)

    def release(self, name: str) -> None:
        """Open the contact of a button. Raises NoSuchButton."""
        self._set_level(self._button(name), True)

    async def tap(self, name: str, hold_ms: float = TAP_MS) -> None:
        """Press a button, and release it `hold_ms` later in machine time. Raises NoSuchButton."""
        self.press(name)
        try:
            await self._world.clock.wait_ms(hold_ms)
        finally:
            self.release(name)

    def set_pin(self, number: int, level: bool) -> None:
        """Set the level of the contact at pin `number`, to simulate a fault of the wiring.

        Raises NoSuchButton for a number that has no contact.
        """
        if number not in self.levels:
            raise NoSuchButton(f"no contact is on pin {number}; there are {sorted(self.levels)}")
        self._set_level(number, level)

    def attach(self, listener: LevelListener) -> Callable[[], None]:
        """Call `listener` at each change of a contact, until the returned function is called."""
        self._level_listeners.append(listener)
        return lambda: self._level_listeners.remove(listener)

    def watch(self, listener: LampListener) -> Callable[[], None]:
        """Call `listener` at each change of a lamp, until the returned function is called."""
        self._lamp_listeners.append(listener)
        return lambda: self._lamp_listeners.remove(listener)

    def set_output(self, number: int, level: bool) -> None:
        """Switch the lamp or buzzer at output `number` on if `level` is True, otherwise off."""
        for name, pin in LAMPS.items():
            if pin == number and self.lamps[name] != level:
                self.lamps[name] = level
                for listener in list(self._lamp_listeners):
                    listener(name, level)

    def close(self) -> None:
        """Stop copying the states of the machine's lid and emergency stop to their contacts."""
        self._unwatch()

    def _button(self, name: str) -> int:
        if name not in BUTTONS:
            raise NoSuchButton(f"no button is called {name!r}; there are {', '.join(BUTTONS)}")
        return BUTTONS[name]

    def _follow_switch(self, name: str, value: int) -> None:
        if name in SWITCHES:
            self._set_level(SWITCHES[name], bool(value))

    def _set_level(self, number: int, level: bool) -> None:
        if self.levels.get(number) == level:
            return
        self.levels[number] = level
        for listener in list(self._level_listeners):
            listener(number, level)
