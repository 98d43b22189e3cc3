"""The bare page's server, beside which a hall's pages are looked at."""

import asyncio

from sim.bench.browser_pages import _answer_request


class Line(asyncio.StreamReader):
    """A browser's connection; it is its own other direction."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False
        self.written = asyncio.Event()

    def write(self, data: bytes) -> None:
        self.written.set()

    async def drain(self) -> None:
        """Have room."""

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


async def test_a_connection_that_closes_without_asking_is_closed_and_no_error() -> None:
    line = Line()
    line.feed_data(b"GET")
    line.feed_eof()
    await _answer_request(line, line)  # type: ignore[arg-type]  # as much of a writer as is used
    assert line.closed


async def test_a_stream_that_is_cancelled_is_cancelled_and_closed() -> None:
    line = Line()
    line.feed_data(b"GET /stream HTTP/1.1\r\n\r\n")
    serving = asyncio.ensure_future(_answer_request(line, line))  # type: ignore[arg-type]  # as above
    await line.written.wait()
    serving.cancel()
    await asyncio.wait({serving})
    assert serving.cancelled()
    assert line.closed
