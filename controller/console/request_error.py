"""Why the console does not do what it was asked, for whoever asked, in both languages."""

from controller.host.printable_text import escape_unprintable, shorten


class RequestError(Exception):
    """A request that is refused: its HTTP status, and a line in both languages that says why.

    `wait_s`: so many seconds later it may be tried again; None where that is not known.
    """

    def __init__(self, status: int, en: str, zh: str, wait_s: int | None = None) -> None:
        """Keep them all."""
        super().__init__(en)
        self.status, self.en, self.zh, self.wait_s = status, en, zh, wait_s


def unknown_table(name: str, status: int = 404) -> RequestError:
    """Return that this console has no table of a name, which anybody may have made up."""
    said = escape_unprintable(shorten(name))
    return RequestError(status, f"there is no table {said} here", f"没有{said}这张台")
