"""Where log lines go: to stderr, a line each, readable in a terminal and in the journal."""

import logging
import sys

import structlog


def log_to_stderr(level: int = logging.INFO) -> None:
    """Let every structlog logger of this process write to stderr, nothing to stdout."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
    )
