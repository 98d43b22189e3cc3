"""Pages of a console in real browsers, watched from outside for when a change is drawn.

Needs Playwright (an extra of the tests) and the system's Chromium.
"""

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.cli.wall import wall_ms
from controller.trials.hall import HallError

CHROMIUM: Final = Path("/usr/bin/chromium")
QUIET: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""What keeps Chromium from asking anybody but the console for anything."""
_EVERY_S: Final = 0.25
_UP_MS: Final = 60_000

_WATCH: Final = """
window.drawn = [];
new MutationObserver((changes) => {
  const seen = new Map();
  for (const { target } of changes) {
    const link = target.closest?.('a[href^="/table/"]');
    if (link && link.closest("#tiles")) seen.set(link.getAttribute("href").slice(7), link);
  }
  for (const [table, link] of seen) {
    const calls = Boolean(link.dataset.rank);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      window.drawn.push({ table, calls, at_ms: performance.timeOrigin + performance.now() });
    }));
  }
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["data-rank"] });
"""
"""Two frames after an attribute has changed it is on the screen."""

_BARE: Final = """<!doctype html><title>bare</title><p id="now"></p><script>
window.times = [];
new EventSource("/stream").onmessage = ({ data }) => {
  document.getElementById("now").textContent = data;
  requestAnimationFrame(() => requestAnimationFrame(() => {
    window.times.push(performance.timeOrigin + performance.now() - Number(data));
  }));
};
</script>"""


class Drawn(msgspec.Struct, frozen=True, gc=False):
    """At `at_ms` (the wall's clock) a page showed that somebody calls at a table, or no more."""

    table: str
    calls: bool
    at_ms: float


class Pages:
    """Open pages of a hall. Without a browser there are none, and nothing is drawn."""

    def __init__(self, browser: Any = None) -> None:
        self.browser = browser
        self.pages: list[Any] = []
        self.reloads = 0

    def add(self, page: Any) -> None:
        """Watch a page that has loaded."""
        self.pages.append(page)
        page.on("framenavigated", lambda frame: self._reloaded())

    async def begin(self) -> None:
        """Forget what was drawn so far."""
        self.reloads = 0
        for page in self.pages:
            await page.evaluate("() => { window.drawn.length = 0; }")

    async def end(self) -> list[Drawn]:
        """Return what was drawn since."""
        told = [one for page in self.pages for one in await page.evaluate("() => window.drawn")]
        return msgspec.convert(told, list[Drawn], strict=False)

    def _reloaded(self) -> None:
        self.reloads += 1


def lacking() -> str | None:
    """Return what is not there to look at pages with; None where all is."""
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is not installed (pip install playwright)"
    return None if CHROMIUM.exists() else f"there is no {CHROMIUM} (Debian's package chromium)"


@asynccontextmanager
async def watching(url: str, count: int, pin: str) -> AsyncIterator[Pages]:
    """Open the hall's page so many times, for ref0, ref1, … Raises HallError."""
    if count == 0:
        yield Pages()
        return
    if (what := lacking()) is not None:
        raise HallError(f"no pixels are measured: {what}")
    from playwright.async_api import async_playwright

    async with AsyncExitStack() as opened:
        playwright = await opened.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=[*QUIET])
        opened.push_async_callback(browser.close)
        pages = Pages(browser)
        for number in range(count):
            context = await browser.new_context()
            answer = await context.request.post(
                f"{url}/api/login",
                data={"name": f"ref{number}", "pin": pin},
                headers={"X-Dealtable": "1"},
            )
            if not answer.ok:
                raise HallError(f"{url}: ref{number} is not let in: {await answer.text()}")
            page = await context.new_page()
            await page.add_init_script(_WATCH)
            await page.goto(url)
            await page.wait_for_selector("#tiles a", timeout=_UP_MS)
            pages.add(page)
        yield pages


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer with a page, or with a stream that says the time."""
    head = await reader.readuntil(b"\r\n\r\n")
    try:
        if not head.startswith(b"GET /stream"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
            writer.write(_BARE.encode())
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"data: %d\n\n" % wall_ms())
            await writer.drain()
            await asyncio.sleep(_EVERY_S)
    except ConnectionError:
        pass
    finally:
        writer.close()


async def bare_ms(pages: Pages, seconds: float) -> list[float]:
    """Return how long the same browser takes from a bare server's word to the screen."""
    if pages.browser is None:
        return []
    server = await asyncio.start_server(_serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    context = await pages.browser.new_context()
    try:
        page = await context.new_page()
        await page.goto(f"http://127.0.0.1:{port}/")
        await asyncio.sleep(seconds)
        told = await page.evaluate("() => window.times")
    finally:
        await context.close()
        server.close()
    return msgspec.convert(told, list[float], strict=False)
