"""What a console of a large hall costs, and how soon its pages show what happens."""

import asyncio

import click
import msgspec

from controller.trials.bench.registry import figure, watch
from controller.trials.console_load import Console, Load, OnPages, console_load
from controller.trials.hall import HallError
from controller.trials.pixels import lacking
from controller.trials.watched import Times


class _UnderLoad:
    """One run of a console under the load of a large hall, for both of its figures."""

    def __init__(self) -> None:
        self._run: Console | None = None

    def __call__(self) -> Console:
        """Return what it cost; it is measured once for the same load."""
        browsers = 0 if lacking() else watch.browsers
        load = Load(feeds=watch.feeds, browsers=browsers, seconds=watch.seconds)
        if self._run is None or self._run.load != load:
            try:
                self._run = asyncio.run(console_load(load, _tell))
            except HallError as error:
                raise click.ClickException(f"console: {error}") from error
            click.echo(msgspec.json.encode(self._run), err=True)
        if wrong := self._run.wrong():
            raise click.ClickException(f"console: {'; '.join(wrong)}")
        return self._run


def _tell(line: str) -> None:
    click.echo(f"console: {line}", err=True)


_under_load = _UnderLoad()


def _bare_drain() -> float:
    return _under_load().floor_cores


@figure("console", floor=_bare_drain, documented=2.5, rounds=1)
def drain_feeds() -> float:
    """Of a second, what a console of 400 feeds takes at 4,000 states, against decoding them."""
    return _under_load().alone.cores


def _bare_pixels() -> float:
    return _p95_s(_on_pages().bare)


def _no_pixels() -> str | None:
    return lacking() or (None if watch.browsers else "no browser is to look (--browsers 0)")


@figure("pixels", floor=_bare_pixels, documented=3.7, rounds=1, lacking=_no_pixels)
def until_drawn() -> float:
    """From a call to its row on five browsers (95 of 100), against a bare page's own way."""
    return _p95_s(_on_pages().drawn)


def _on_pages() -> OnPages:
    pages = _under_load().pages
    if pages is None:
        raise click.ClickException(f"pixels: {_no_pixels()}")
    return pages


def _p95_s(seen: Times | None) -> float:
    if seen is None:
        raise click.ClickException("pixels: no page has drawn anything")
    return seen.p95_ms / 1000
