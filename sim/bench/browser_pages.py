"""Console pages in a real browser. A script records when a page shows or removes a referee call.

The module runs as a separate process. The parent process writes a line, `drawn` or `heaps`. The
answer is a line of JSON: a `PageChanges` or a list of `PageHeap`. The process ends when its input
ends, and closes its browsers. It needs Playwright (an extra of the tests) and the system's
Chromium.

    python -m sim.bench.browser_pages --url http://127.0.0.1:8080 --count 5 --pin 271828
"""

import asyncio
import importlib.util
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from controller.service.process_signals import termination_signals
from controller.service.wall_clock import read_wall_clock_ms
from sim.tables.table_processes import HallError

CHROMIUM: Final = Path("/usr/bin/chromium")
_DISABLED_FEATURES: Final = (
    *("MediaRouter", "OptimizationHints", "NetworkTimeServiceQuerying", "PreconnectToSearch"),
    *("HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "PaintHolding", "LensOverlay"),
    *("DestroyProfileOnBrowserClose", "AvoidUnnecessaryBeforeUnloadCheckSync", "AimEnabled"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect"),
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
)
"""Parts of Chromium that only contact other servers or draw the browser's own window.

All but the last line are the list of Playwright. The list is repeated because only the last such
switch has an effect. The parts in the last line draw two pages of the browser for every page that
opens. This took three quarters of the time.
"""
CHROMIUM_OPTIONS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(_DISABLED_FEATURES)}",
)
"""Options that prevent Chromium from contacting any server other than the console."""
_TICK_INTERVAL_S: Final = 0.25
_PAGE_TIMEOUT_MS: Final = 60_000
_MIB: Final = 1 << 20

_WATCH_SCRIPT: Final = """
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
"""A script that records each change. A changed attribute is on the screen two frames later."""

_BARE_PAGE: Final = """<!doctype html><title>bare</title><p id="now"></p><script>
window.drawn = [];
new EventSource("/stream").onmessage = ({ data }) => {
  document.getElementById("now").textContent = data;
  requestAnimationFrame(() => requestAnimationFrame(() => {
    window.drawn.push(performance.timeOrigin + performance.now() - Number(data));
  }));
};
</script>"""

_TAKE_SCRIPT: Final = "() => window.drawn.splice(0)"


class DrawnChange(msgspec.Struct, frozen=True, gc=False):
    """The moment `at_ms` (wall clock) when a page began or ceased to show a call for a referee.

    `calls`: True if table `table` began to show a call, False if it ceased.
    """

    table: str
    calls: bool
    at_ms: float


class PageChanges(msgspec.Struct, frozen=True):
    """The starts and ends of referee calls that pages have drawn since the previous PageChanges.

    `bare_ms`: the times from a message of a bare server to the screen, in the same browser.
    `reloads`: the number of page reloads so far.
    """

    drawn: list[DrawnChange]
    bare_ms: list[float]
    reloads: int


class PageHeap(msgspec.Struct, frozen=True, gc=False):
    """One page after garbage collection: MiB of script memory, numbers of nodes and listeners."""

    mib: float
    nodes: int
    listeners: int


class OpenPages:
    """The open pages of a console, and a minimal page in the same browser for comparison."""

    def __init__(self, bare: Any) -> None:
        self._bare = bare
        self._pages: list[Any] = []
        self._debug_sessions: list[Any] = []
        self._reloads = 0

    async def add_page(self, page: Any) -> None:
        """Add a loaded page, count its reloads from now on, and measure its memory on request."""
        self._pages.append(page)
        page.on("framenavigated", self._count_reload)
        line = await page.context.new_cdp_session(page)
        await line.send("Performance.enable")
        self._debug_sessions.append(line)

    async def take_changes(self) -> PageChanges:
        """Return the changes that the pages have drawn since the previous call of this method."""
        told = [one for page in self._pages for one in await page.evaluate(_TAKE_SCRIPT)]
        bare_ms = await self._bare.evaluate(_TAKE_SCRIPT)
        found = {"drawn": told, "bare_ms": bare_ms, "reloads": self._reloads}
        return msgspec.convert(found, PageChanges, strict=False)

    async def measure_heaps(self) -> list[PageHeap]:
        """Collect the garbage of each page, then return one PageHeap for each page."""
        found = []
        for line in self._debug_sessions:
            await line.send("HeapProfiler.collectGarbage")
            told = (await line.send("Performance.getMetrics"))["metrics"]
            now = {one["name"]: one["value"] for one in told}
            mib, nodes = now["JSHeapUsedSize"] / _MIB, int(now["Nodes"])
            found.append(PageHeap(mib, nodes, int(now["JSEventListeners"])))
        return found

    def _count_reload(self, frame: Any) -> None:
        self._reloads += 1


def find_missing_program() -> str | None:
    """Return a text if Playwright or Chromium is not installed, or None if both are installed."""
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is not installed (pip install playwright)"
    return None if CHROMIUM.exists() else f"there is no {CHROMIUM} (Debian's package chromium)"


@asynccontextmanager
async def _open_pages(url: str, count: int, pin: str) -> AsyncIterator[OpenPages]:
    """Open and yield `count` pages of a console, one for each account: ref0, ref1, …

    Raises HallError if an account cannot log in.
    """
    from playwright.async_api import async_playwright

    async with AsyncExitStack() as opened:
        playwright = await opened.enter_async_context(async_playwright())
        browser = await _launch_browser(playwright)
        opened.push_async_callback(browser.close)
        bare = await (await browser.new_context()).new_page()
        await bare.goto(await opened.enter_async_context(_serve_bare_page()))
        pages = OpenPages(bare)
        for number in range(count):
            context = await browser.new_context()
            answer = await context.request.post(
                f"{url}/api/login",
                data={"name": f"ref{number}", "pin": pin},
                headers={"X-Dealtable": "1"},
            )
            if not answer.ok:
                raise HallError(f"{url}: ref{number} cannot log in: {await answer.text()}")
            page = await context.new_page()
            await page.add_init_script(_WATCH_SCRIPT)
            await page.goto(url)
            await page.wait_for_selector("#tiles a", timeout=_PAGE_TIMEOUT_MS)
            await pages.add_page(page)
        yield pages


async def _launch_browser(playwright: Any) -> Any:
    """Start Chromium, and return the browser. Raises HallError if Chromium does not start."""
    from playwright.async_api import Error

    try:
        return await playwright.chromium.launch(
            executable_path=str(CHROMIUM),
            args=[*CHROMIUM_OPTIONS],
            # Signals must end this process, which then closes the browser.
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
    except Error as error:
        lines = str(error).splitlines()
        why = next((line for line in lines if "FATAL" in line), lines[0])
        raise HallError(f"{CHROMIUM} does not start: {why.strip()}") from error


@asynccontextmanager
async def _serve_bare_page() -> AsyncIterator[str]:
    """Serve the minimal page during the `with` block, and yield its address."""
    served: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(_answer_request(reader, writer))
        served.add(task)
        task.add_done_callback(served.discard)

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()
        for task in served:
            task.cancel()
        await asyncio.gather(*served, return_exceptions=True)


async def _answer_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer a request: for `/stream` send the time repeatedly, otherwise the minimal page."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"GET /stream"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
            writer.write(_BARE_PAGE.encode())
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"data: %d\n\n" % read_wall_clock_ms())
            await writer.drain()
            await asyncio.sleep(_TICK_INTERVAL_S)
    except (ConnectionError, asyncio.IncompleteReadError):
        pass  # the browser has closed the connection, perhaps before it sent a request
    finally:
        writer.close()


@click.command()
@click.option("--url", required=True, help="the console's address")
@click.option("--count", default=5, show_default=True, help="pages")
@click.option("--pin", required=True, help="the PIN of ref0, ref1, …")
def main(url: str, count: int, pin: str) -> None:
    """Open `count` pages of the console at `url`, and close them when standard input ends."""

    async def run() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        for number in termination_signals():
            loop.add_signal_handler(number, task.cancel)
        asked = asyncio.StreamReader()
        with suppress(asyncio.CancelledError):
            await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(asked), sys.stdin)
            async with _open_pages(url, count, pin) as pages:
                click.echo("{}")
                while line := await asked.readline():
                    heaps = line == b"heaps\n"
                    told = await (pages.measure_heaps() if heaps else pages.take_changes())
                    click.echo(msgspec.json.encode(told))

    try:
        asyncio.run(run())
    except HallError as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
