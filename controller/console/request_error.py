"""The refusal of a request, with the reason in English and Chinese."""

from controller.host.printable_text import escape_unprintable, shorten


class RequestError(Exception):
    """An error that refuses a request, with an HTTP status and the reason in English and Chinese.

    `wait_s` is the number of seconds after which the request may be repeated, or None if unknown.
    """

    def __init__(self, status: int, en: str, zh: str, wait_s: int | None = None) -> None:
        super().__init__(en)
        self.status, self.en, self.zh, self.wait_s = status, en, zh, wait_s


def unknown_table(name: str, status: int = 404) -> RequestError:
    """Return the error for a table that this console does not have. The name may be forged."""
    shown = escape_unprintable(shorten(name))
    return RequestError(status, f"there is no table {shown} here", f"没有{shown}这张台")
