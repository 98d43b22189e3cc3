"""The families of metrics: the name and the meaning of each, in Prometheus' conventions.

A family is a row: its kind, its name after `dealtable_`, its help text, and its labels. All
families also have the labels `table` and `simulated`. Counters of journal entries continue over
restarts of the daemon, because they are computed from its journal. All other counters begin with
the process.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, Literal, NamedTuple, TypeVar

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
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
    """One family of metrics, which are numbers with the same name and different labels."""

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    help: str
    labels: tuple[str, ...] = ()


def _counter(name: str, help: str, *labels: str) -> MetricFamily:
    return MetricFamily("counter", f"{name}_total", help, labels)


def _gauge(name: str, help: str, *labels: str) -> MetricFamily:
    return MetricFamily("gauge", name, help, labels)


def _histogram(name: str, help: str, *labels: str) -> MetricFamily:
    return MetricFamily("histogram", name, help, labels)


METRIC_FAMILIES: Final[dict[str, MetricFamily]] = {
    # Deals, from the public entries of the journal.
    "deals": _counter("deals", "Deals with released hands."),
    "attempts": _counter("attempts", "Attempts by the verdict on them.", "outcome"),
    "redeals": _counter(
        "redeals",
        "Misdeals: attempts that the count check refused, by the first of their reasons.",
        "reason",
    ),
    "voids": _counter(
        "voids",
        "Attempts given up, before their verdict or after, by the first of their reasons.",
        "reason",
    ),
    "cards_fed": _counter(
        "cards_fed", "Cards that the rollers fed, counted at the verdict.", "source"
    ),
    "misreads": _counter("misreads", "Cards that needed a second look, by way of the tray."),
    "set_deals": _counter("set_deals", "Deals played with a set of cards.", "set"),
    "faults": _counter("faults", "Times that a fault came up.", "fault"),
    # Observations of the boards, counted with the attempt's verdict.
    "reads": _counter("reads", "Looks of the reader at a card.", "seen"),
    "tray_cards": _counter("tray_cards", "Cards that landed in the tray."),
    "double_feeds": _counter("double_feeds", "Two cards fed as one."),
    "strays": _counter("strays", "Landings that no card was due for."),
    "jams": _counter("jams", "Jams by place.", "place"),
    "stalls": _counter("stalls", "Motors that did not turn under power.", "motor"),
    "gate_turns": _counter("gate_turns", "Turns of the gate to another outlet."),
    "lifts": _counter("lifts", "Times that the lift brought hands up."),
    "shuffle_passes": _counter("shuffle_passes", "Passes of the shuffler."),
    # The serial lines to the boards.
    "board_up": _gauge("board_up", "Whether the board's session is open.", "board"),
    "board_fed": _counter(
        "board_life_cards_fed",
        "Cards fed in the board's life, reported when its session began.",
        "board",
    ),
    "board_landed": _counter(
        "board_life_cards_landed",
        "Cards landed in the board's life, reported when its session began.",
        "board",
    ),
    "line_junk": _counter("line_junk_frames", "Frames that were none.", "board"),
    "line_crc_errors": _counter("line_crc_errors", "Frames with a wrong checksum.", "board"),
    "line_oversize": _counter("line_oversize_frames", "Frames too long.", "board"),
    "line_malformed": _counter("line_malformed_frames", "Frames of a wrong layout.", "board"),
    "line_foreign": _counter("line_foreign_frames", "Frames of another session.", "board"),
    "line_resends": _counter("line_resends", "Commands sent again.", "board"),
    "line_duplicates": _counter("line_duplicate_events", "Events that came again.", "board"),
    "line_gaps": _counter("line_early_events", "Events that came too early.", "board"),
    "line_lost": _counter("line_lost_events", "Events that the board forgot untaken.", "board"),
    "line_sessions": _counter("line_sessions", "Sessions opened.", "board"),
    # Durations and queues.
    "route_latency_seconds": _histogram(
        "route_latency_seconds",
        "From the bytes with a card's place to its ROUTE, in the same read callback.",
    ),
    "journal_write_seconds": _histogram(
        "journal_write_seconds",
        "From rows handed over to their commit; durable ones are synced, too.",
        "durable",
    ),
    "loop_lag_seconds": _histogram(
        "loop_lag_seconds", "How late the machine's loop came to its timers."
    ),
    "journal_rows_waiting": _gauge(
        "journal_rows_waiting", "Rows handed over and not yet committed."
    ),
    "wire_events_waiting": _gauge("wire_events_waiting", "Board events that are in no row yet."),
    "gateway_unsent_bytes": _gauge(
        "gateway_unsent_bytes", "Bytes for the gateways that they have not read."
    ),
    # The machine's process; the gateway's own has the usual process_ names.
    "machine_start_time_seconds": _gauge(
        "machine_start_time_seconds", "When the machine's process began, in Unix time."
    ),
    "machine_cpu_seconds": _counter("machine_cpu_seconds", "CPU time of the machine's process."),
    "machine_resident_memory_bytes": _gauge(
        "machine_resident_memory_bytes", "Memory of the machine's process."
    ),
    # Observations of the gateway itself.
    "machine_up": _gauge("machine_up", "Whether its machine is connected."),
    "phase": _gauge("phase", "1 for the machine's present phase.", "phase"),
    "alert": _gauge("alert", "1 for each fault that is up now.", "fault"),
    "calls_waiting": _gauge("calls_waiting", "People who wait for the referee."),
    "feed_messages": _counter("feed_messages", "Messages put on the feed.", "topic"),
    "commands": _counter(
        "commands", "Answers to commands: ok, or the name of the refusal.", "cmd", "answer"
    ),
    "command_reply_seconds": _histogram(
        "command_reply_seconds",
        "From a command's arrival to the machine's answer; some wait for people.",
    ),
    "commands_waiting": _gauge(
        "commands_waiting", "Commands that the machine has not answered yet."
    ),
    "keys_refused": _counter(
        "keys_refused", "Connections with a key not admitted, by the name of the refusal.", "why"
    ),
    "keys_expiring": _gauge("keys_expiring", "Keys that expire within a week."),
    "connections_cut": _counter(
        "connections_cut",
        "Times that all clients had to connect again because a key was revoked or expired.",
    ),
    "orders_refused": _counter(
        "orders_refused",
        "Signed commands that the machine itself refused for key, role, signature or run.",
        "why",
    ),
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
    """Return all metrics in Prometheus' text format.

    Each number has the labels `table` and `simulated`. A number whose name or labels match no
    family is left out, because its machine has another version.
    """
    registry = CollectorRegistry(auto_describe=False)
    whose = {"table": table, "simulated": simulated}
    metrics = list(_build_metrics(samples, distributions))
    for metric in metrics:
        metric.samples = [
            sample._replace(labels=whose | sample.labels) for sample in metric.samples
        ]
    registry.register(_FixedCollector(metrics))
    return generate_latest(registry)


class _FixedCollector(Collector):
    """A collector that returns metrics that already exist."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _build_metrics(
    samples: Sequence[MetricSample], distributions: Sequence[MetricDistribution]
) -> Iterator[Metric]:
    numbers = _group_by_family(samples)
    histograms = _group_by_family(distributions)
    for key, family in METRIC_FAMILIES.items():
        if family.kind == "histogram" and key in histograms:
            yield _histogram_metric(family, histograms[key])
        elif key in numbers:
            kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
            metric = kind(METRIC_PREFIX + family.name, family.help, labels=family.labels)
            for sample in numbers[key]:
                metric.add_metric(sample.labels, sample.value)
            yield metric
    yield from ProcessCollector(registry=None).collect()


def _group_by_family(values: Sequence[MetricValue]) -> dict[str, list[MetricValue]]:
    """Return the values by the name of their family. Values that match no family are left out."""
    found: dict[str, list[MetricValue]] = {}
    for each in values:
        family = METRIC_FAMILIES.get(each.name)
        if family is not None and len(family.labels) == len(each.labels):
            found.setdefault(each.name, []).append(each)
    return found


def _histogram_metric(family: MetricFamily, distributions: Sequence[MetricDistribution]) -> Metric:
    """Return a histogram as Prometheus expects it, with cumulative counts by upper bound."""
    metric = HistogramMetricFamily(METRIC_PREFIX + family.name, family.help, labels=family.labels)
    for told in distributions:
        bounds = [*map(str, told.bounds_s), "+Inf"]
        buckets = list(zip(bounds, accumulate(told.counts), strict=True))
        metric.add_metric(told.labels, buckets, told.sum_s)
    return metric
