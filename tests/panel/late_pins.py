"""Mock pins whose edges arrive as late as a test says."""

from gpiozero.pins.mock import MockFactory


class LatePins(MockFactory):  # type: ignore[misc]  # gpiozero has no types
    """Pins of a test. An edge happened `late_s` seconds before the test drives its pin."""

    late_s = 0.0

    def ticks_diff(self, later: float, earlier: float) -> float:
        """Return the age of an edge, whatever the computer's clock says."""
        return self.late_s
