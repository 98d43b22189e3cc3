"""A word in the log where a serial adapter holds bytes back for longer than it should."""

from controller.config import TableConfig
from controller.loggers import structlog
from drivers.latency import USB_LATENCY_MS, read_latency_ms

_log = structlog.get_logger("machine")


def warn_about_latency(config: TableConfig) -> None:
    """Warn of each port whose adapter waits longer than it is told to; most have no such timer."""
    for board, port in (("dealer", config.dealer.port), ("reader", config.reader.port)):
        found_ms = read_latency_ms(port)
        if found_ms is not None and found_ms > USB_LATENCY_MS:
            _log.warning(
                "the adapter of a serial port holds bytes back: every card is late by that",
                board=board,
                port=port,
                latency_ms=found_ms,
                mend="dealtable deploy udev makes the rule that sets 1 ms; plug the adapter anew",
            )
