"""Why firmware cannot be put on a board. Each message is one line for people."""


class FlashError(Exception):
    """A board cannot be flashed, or was not; what it runs now is said."""


class NoBoardFound(FlashError):
    """Neither a firmware of ours nor MicroPython's prompt answers."""


class FlashRefused(FlashError):
    """A board of ours says no, or is another one than was named."""


class WrongHash(FlashError):
    """What was read back is not what was written."""


class FirmwareRolledBack(FlashError):
    """The new firmware did not answer rightly; the board runs the one before."""
