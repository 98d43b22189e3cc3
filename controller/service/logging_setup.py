"""Logging to stderr: lines for people in a terminal, otherwise one JSON object on each line.

Each line names its table, the run of its daemon (`boot`) and its process (`part`). No line ever
contains a face, a seed or a key: bytes are replaced by their number, and a traceback has no values.
"""

import logging
import os
import sys
from typing import Any, Final, Literal, get_args

import click

from controller.host.loggers import structlog

EventDict = structlog.typing.EventDict
Processor = structlog.typing.Processor
WrappedLogger = structlog.typing.WrappedLogger

LogLevelName = Literal["debug", "info", "warning", "error"]
LOG_LEVELS: Final[dict[LogLevelName, int]] = {
    name: getattr(logging, name.upper()) for name in get_args(LogLevelName)
}
LOG_LEVEL_VARIABLE: Final = "DEALTABLE_LOG_LEVEL"
"""Environment variable that passes the level to child processes."""

_context: dict[str, Any] = {"table": None, "boot": None, "part": None}


def log_to_stderr(level: int = logging.INFO) -> None:
    """Make all loggers of this process, also those of libraries, write only to stderr."""
    shared: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_context,
        _hide_bytes,
    ]
    render: list[Processor]
    if sys.stderr.isatty():
        # The default traceback shows the values of local variables, which may include faces.
        plain = structlog.dev.plain_traceback
        render = [structlog.dev.ConsoleRenderer(exception_formatter=plain)]
    else:
        write_json = structlog.processors.JSONRenderer(default=str)
        render = [structlog.processors.format_exc_info, write_json]
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        processors=[*shared, *render],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render],
        )
    )
    # At debug level libraries log their data, including secrets. The drivers log no secrets.
    logging.basicConfig(level=max(level, logging.INFO), handlers=[handler], force=True)
    logging.getLogger("drivers").setLevel(level)


def set_log_level(level: LogLevelName) -> None:
    """Set the log level of this process and of its child processes."""
    os.environ[LOG_LEVEL_VARIABLE] = level
    log_to_stderr(LOG_LEVELS[level])


def add_log_context(**fields: str) -> None:
    """Add fields to every later log line. The fields are `table`, `boot` and `part`."""
    _context.update(fields)


def _add_context(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    """Return a log line that begins with time, level, table, run, process and event."""
    first = {key: line.pop(key) for key in ("timestamp", "level") if key in line}
    what = {"event": line.pop("event", None)}
    return {**first, **_context, **what, **line}


def _hide_bytes(_: WrappedLogger, __: str, line: EventDict) -> EventDict:
    """Return a log line without raw bytes, because they may be a key or a card.

    The number of bytes is logged instead.
    """
    raw = (bytes, bytearray, memoryview)
    return {
        key: f"({len(value)} bytes)" if isinstance(value, raw) else value
        for key, value in line.items()
    }


log_level_option = click.option(
    "--log-level",
    "level",
    type=click.Choice(list(LOG_LEVELS)),
    default="info",
    envvar=LOG_LEVEL_VARIABLE,
    show_default=True,
    help="What to log to stderr: lines for people in a terminal, JSON elsewhere.",
)
