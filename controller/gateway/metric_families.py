"""The families of metrics with their names and help texts, by Prometheus' conventions.

A family is a row: its kind, its name after `dealtable_`, its help text, and its labels. All
families also have the labels `table` and `simulated`. Counters of journal entries continue over
restarts of the daemon, because they are computed from its journal. All other counters begin with
the process.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, Literal, NamedTuple, TypeVar

from prometheus_client import ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from controller.gateway_protocol import MetricDistribution, MetricSample


class MetricFamily(NamedTuple):
    """One family of metrics: all numbers with the same name, each with other label values."""

    key: str
    kind: Literal["counter", "gauge", "histogram"]
    name: str
    help: str
    labels: tuple[str, ...] = ()


def _counter(key: str, help: str, *labels: str, name: str = "") -> MetricFamily:
    return MetricFamily(key, "counter", f"{name or key}_total", help, labels)


def _gauge(key: str, help: str, *labels: str) -> MetricFamily:
    return MetricFamily(key, "gauge", key, help, labels)


def _histogram(key: str, help: str, *labels: str) -> MetricFamily:
    return MetricFamily(key, "histogram", key, help, labels)


METRIC_FAMILIES: Final[dict[str, MetricFamily]] = {
    family.key: family
    for family in (
        # Deals, from the public entries of the journal.
        _counter("deals", "Deals with released hands."),
        _counter("attempts", "Attempts by the verdict on them.", "outcome"),
        _counter(
            "redeals",
            "Misdeals: attempts that the count check refused, by the first of their reasons.",
            "reason",
        ),
        _counter(
            "voids",
            "Attempts given up, before their verdict or after, by the first of their reasons.",
            "reason",
        ),
        _counter("cards_fed", "Cards that the rollers fed, counted at the verdict.", "source"),
        _counter("misreads", "Cards that needed a second look, by way of the tray."),
        _counter("set_deals", "Deals played with a set of cards.", "set"),
        _counter("faults", "Times that a fault came up.", "fault"),
        # Observations of the boards, counted with the attempt's verdict.
        _counter("reads", "Looks of the reader at a card.", "seen"),
        _counter("tray_cards", "Cards that landed in the tray."),
        _counter("double_feeds", "Two cards fed as one."),
        _counter("strays", "Landings that no card was due for."),
        _counter("jams", "Jams by place.", "place"),
        _counter("stalls", "Motors that did not turn under power.", "motor"),
        _counter("gate_turns", "Turns of the gate to another outlet."),
        _counter("lifts", "Times that the lift brought hands up."),
        _counter("shuffle_passes", "Passes of the shuffler."),
        # The serial lines to the boards.
        _gauge("board_up", "Whether the board's session is open.", "board"),
        _counter(
            "board_fed",
            "Cards fed in the board's life, reported when its session began.",
            "board",
            name="board_life_cards_fed",
        ),
        _counter(
            "board_landed",
            "Cards landed in the board's life, reported when its session began.",
            "board",
            name="board_life_cards_landed",
        ),
        _counter("line_junk", "Frames that were none.", "board", name="line_junk_frames"),
        _counter("line_crc_errors", "Frames with a wrong checksum.", "board"),
        _counter("line_oversize", "Frames too long.", "board", name="line_oversize_frames"),
        _counter(
            "line_malformed", "Frames of a wrong layout.", "board", name="line_malformed_frames"
        ),
        _counter("line_foreign", "Frames of another session.", "board", name="line_foreign_frames"),
        _counter("line_resends", "Commands sent again.", "board"),
        _counter(
            "line_duplicates", "Events that came again.", "board", name="line_duplicate_events"
        ),
        _counter("line_gaps", "Events that came too early.", "board", name="line_early_events"),
        _counter(
            "line_lost", "Events that the board forgot untaken.", "board", name="line_lost_events"
        ),
        _counter("line_sessions", "Sessions opened.", "board"),
        # Durations and queues.
        _histogram(
            "route_latency_seconds",
            "From the bytes with a card's place to its ROUTE, in the same read callback.",
        ),
        _histogram(
            "journal_write_seconds",
            "From rows handed over to their commit; durable ones are synced, too.",
            "durable",
        ),
        _histogram("loop_lag_seconds", "How late the machine's loop came to its timers."),
        _gauge("journal_rows_waiting", "Rows handed over and not yet committed."),
        _gauge("wire_events_waiting", "Board events that are in no row yet."),
        _gauge("gateway_unsent_bytes", "Bytes for the gateways that they have not read."),
        # The machine's process; the gateway's own has the usual process_ names.
        _gauge("machine_start_time_seconds", "When the machine's process began, in Unix time."),
        _counter("machine_cpu_seconds", "CPU time of the machine's process."),
        _gauge("machine_resident_memory_bytes", "Memory of the machine's process."),
        # Observations of the gateway itself.
        _gauge("machine_up", "Whether its machine is connected."),
        _gauge("phase", "1 for the machine's present phase.", "phase"),
        _gauge("alert", "1 for each fault that is up now.", "fault"),
        _gauge("calls_waiting", "People who wait for the referee."),
        _counter("feed_messages", "Messages put on the feed.", "topic"),
        _counter(
            "commands", "Answers to commands: ok, or the name of the refusal.", "cmd", "answer"
        ),
        _histogram(
            "command_reply_seconds",
            "From a command's arrival to the machine's answer; some wait for people.",
        ),
        _gauge("commands_waiting", "Commands that the machine has not answered yet."),
        _counter(
            "keys_refused",
            "Connections with a key not admitted, by the name of the refusal.",
            "why",
        ),
        _gauge("keys_expiring", "Keys that expire within a week."),
        _counter(
            "connections_cut",
            "Times that all clients had to connect again because a key was revoked or expired.",
        ),
        _counter(
            "orders_refused",
            "Signed commands that the machine itself refused for key, role, signature or run.",
            "why",
        ),
    )
}

__all__ = ["CONTENT_TYPE_PLAIN_0_0_4", "render_metrics"]

METRIC_PREFIX: Final = "dealtable_"
MetricValue = TypeVar("MetricValue", MetricSample, MetricDistribution)


def render_metrics(
    table: str,
    simulated: str,
    samples: Sequence[MetricSample],
    distributions: Sequence[MetricDistribution],
) -> bytes:
    """Return the given metrics and those of this process in Prometheus' text format.

    Each number has the labels `table` and `simulated`. A number whose name or labels match no
    family is left out, because the machine has another version.
    """
    whose = {"table": table, "simulated": simulated}
    metrics = list(_build_metrics(samples, distributions))
    for metric in metrics:
        metric.samples = [
            sample._replace(labels=whose | sample.labels) for sample in metric.samples
        ]
    return generate_latest(_FixedCollector(metrics))


class _FixedCollector(Collector):
    """A Prometheus collector that returns a given list of metrics."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _build_metrics(
    samples: Sequence[MetricSample], distributions: Sequence[MetricDistribution]
) -> Iterator[Metric]:
    numbers, histograms = _group_by_family(samples), _group_by_family(distributions)
    for key, family in METRIC_FAMILIES.items():
        name = METRIC_PREFIX + family.name
        if family.kind == "histogram" and key in histograms:
            histogram = HistogramMetricFamily(name, family.help, labels=family.labels)
            for told in histograms[key]:
                bounds = [*map(str, told.bounds_s), "+Inf"]
                # Prometheus expects cumulative counts by upper bound.
                buckets = list(zip(bounds, accumulate(told.counts), strict=True))
                histogram.add_metric(told.labels, buckets, told.sum_s)
            yield histogram
        elif key in numbers:
            kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
            metric = kind(name, family.help, labels=family.labels)
            for sample in numbers[key]:
                metric.add_metric(sample.labels, sample.value)
            yield metric
    yield from ProcessCollector(registry=None).collect()


def _group_by_family(values: Sequence[MetricValue]) -> dict[str, list[MetricValue]]:
    """Return {`key` of a MetricFamily: its values}. Leave out values without such a family."""
    found: dict[str, list[MetricValue]] = {}
    for each in values:
        family = METRIC_FAMILIES.get(each.name)
        if family is not None and len(family.labels) == len(each.labels):
            found.setdefault(each.name, []).append(each)
    return found
