"""A motor: what a board asked, as far as power and a free axle let it happen."""

from collections.abc import Callable

# What a motor does for a board's value; None: nothing moves it.
Drive = Callable[[int | None], None]


class Motor:
    """Hands the board's value on to the mechanics while there is power.

    Lid and e-stop cut power here, in hardware, whatever the board asks. A stalled
    motor (`stalled`) resists `clears_after` starts (None: until a person's hand frees it).
    """

    def __init__(self, drive: Drive, *, rest_value: int | None = 0) -> None:
        """Drive through `drive`; `rest` is the value that is no start (None: each is one)."""
        self._drive = drive
        self._rest_value = rest_value
        self._drive_value: int | None = None
        self._has_power = True
        self.stalled = False
        self._starts_left: int | None = None

    def set_drive(self, value: int | None) -> None:
        """Take the board's value; None: the board drives nothing (it has lost its power)."""
        if value == self._drive_value:
            return
        self._drive_value = value
        if self.stalled and value is not None and value != self._rest_value:
            self._try_to_start()
        self._apply()

    def set_power(self, on: bool) -> None:
        """Cut the power or give it back; the board's value acts again when it is back."""
        if on != self._has_power:
            self._has_power = on
            self._apply()

    def stall(self, clears_after: int | None) -> None:
        """Stick, for this many starts or until `free()`."""
        self.stalled = True
        self._starts_left = clears_after
        self._apply()

    def free(self) -> None:
        """Turn again."""
        if self.stalled:
            self.stalled = False
            self._apply()

    def _try_to_start(self) -> None:
        if self._starts_left is not None:
            self._starts_left -= 1
            self.stalled = self._starts_left >= 0

    def _apply(self) -> None:
        self._drive(self._drive_value if self._has_power and not self.stalled else None)
