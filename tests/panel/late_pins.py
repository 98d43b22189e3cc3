"""Mock pins whose edges arrive as late as a test sets it."""

from gpiozero.pins.mock import MockFactory


class LatePins(MockFactory):  # type: ignore[misc]  # gpiozero has no types
    """Pins of a test. An edge happened `late_s` seconds before the test drives its pin."""

    late_s = 0.0

    def ticks_diff(self, later: float, earlier: float) -> float:
        """Return the age of an edge; the computer's clock does not count."""
        return self.late_s
