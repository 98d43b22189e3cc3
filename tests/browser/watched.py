"""A page under guard: no console error, no script that fails, no request that leaves the host."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, ConsoleMessage, Page, Request, Response

HERE = frozenset({"127.0.0.1", "localhost"})


@dataclass
class Watched:
    """What a browser did that no page of ours may do."""

    wrong: list[str] = field(default_factory=list)
    expected: set[int] = field(default_factory=set)
    """Statuses that this test provokes: a refused login is 401 and no fault of the page."""

    def over(self, context: BrowserContext) -> None:
        """Watch all pages of a context, those to come, too."""
        context.on("page", self._page)
        context.on("request", self._request)
        context.on("response", self._response)
        context.on("weberror", lambda error: self.wrong.append(f"script: {error.error}"))

    def _page(self, page: Page) -> None:
        page.on("console", self._console)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.wrong.append(f"{message.type}: {message.text} {message.location}")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob", "about") and parts.hostname not in HERE:
            self.wrong.append(f"a request leaves the host: {request.url}")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.wrong.append(f"{response.status} {response.request.method} {response.url}")
