"""Where a firmware's files lie on a chip: in one of two folders, beside the other one."""

from drivers.flash.chip.main import SLOTS


class Slot:
    """Slot `a` or `b` of a chip of ours, as chip/main.py finds it."""

    def __init__(self, name: str) -> None:
        assert name in SLOTS
        self.name = name

    def path(self, name: str) -> str:
        """Return where the file of that name lies."""
        return f"{self.name}/firmware/{name}"

    def folders(self) -> tuple[str, ...]:
        """Return the folders that must be there, the outer ones first."""
        return self.name, f"{self.name}/firmware"

    def other(self) -> "Slot":
        """Return the other one."""
        first, second = SLOTS
        return Slot(second if self.name == first else first)
