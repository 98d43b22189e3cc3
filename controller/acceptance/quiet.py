"""The line of a host that can fall silent: what it writes is held back, what it hears goes on."""

from collections.abc import Callable

from drivers.link.port import LinkPort


class QuietPort:
    """A port that drops what is written while it is `silent`, and says when it last heard.

    `now` is the loop's time in seconds.
    """

    def __init__(self, port: LinkPort, now: Callable[[], float]) -> None:
        self._port, self._now = port, now
        self.silent = False
        self.last_heard_s = 0.0

    def open(self, on_bytes: Callable[[bytes], None], on_lost: Callable[[str], None]) -> None:
        """See Port.open."""

        def heard(data: bytes) -> None:
            self.last_heard_s = self._now()
            on_bytes(data)

        self._port.open(heard, on_lost)

    def write(self, data: bytes) -> None:
        """See Port.write; nothing goes out while it is silent."""
        if not self.silent:
            self._port.write(data)

    def close(self) -> None:
        """See Port.close."""
        self._port.close()
