"""The families of metrics: name and meaning of each, in Prometheus' conventions.

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
    """One family of metrics."""

    kind: Literal["counter", "gauge", "histogram"]
    name: str
    help: str
    labels: tuple[str, ...] = ()


_BOARD_LABEL = ("board",)

METRIC_FAMILIES: Final[dict[str, MetricFamily]] = {
    # Deals, from the public entries of the journal.
    "deals": MetricFamily("counter", "deals_total", "Deals whose hands were let out."),
    "attempts": MetricFamily(
        "counter", "attempts_total", "Attempts by the verdict on them.", ("outcome",)
    ),
    "redeals": MetricFamily(
        "counter",
        "redeals_total",
        "Misdeals: attempts that the count check refused, by the first of their reasons.",
        ("reason",),
    ),
    "voids": MetricFamily(
        "counter",
        "voids_total",
        "Attempts given up, before their verdict or after, by the first of their reasons.",
        ("reason",),
    ),
    "cards_fed": MetricFamily(
        "counter",
        "cards_fed_total",
        "Cards that the rollers fed, counted at the verdict.",
        ("source",),
    ),
    "misreads": MetricFamily(
        "counter", "misreads_total", "Cards that needed a second look, by way of the tray."
    ),
    "set_deals": MetricFamily(
        "counter", "set_deals_total", "Deals played with a set of cards.", ("set",)
    ),
    "faults": MetricFamily("counter", "faults_total", "Times that a fault came up.", ("fault",)),
    # Observations of the boards, counted with the attempt's verdict.
    "reads": MetricFamily("counter", "reads_total", "Looks of the reader at a card.", ("seen",)),
    "tray_cards": MetricFamily("counter", "tray_cards_total", "Cards that landed in the tray."),
    "double_feeds": MetricFamily("counter", "double_feeds_total", "Two cards fed as one."),
    "strays": MetricFamily("counter", "strays_total", "Landings that no card was due for."),
    "jams": MetricFamily("counter", "jams_total", "Jams by place.", ("place",)),
    "stalls": MetricFamily(
        "counter", "stalls_total", "Motors that stood still under power.", ("motor",)
    ),
    "gate_turns": MetricFamily(
        "counter", "gate_turns_total", "Turns of the gate to another outlet."
    ),
    "lifts": MetricFamily("counter", "lifts_total", "Times that the lift brought hands up."),
    "shuffle_passes": MetricFamily("counter", "shuffle_passes_total", "Passes of the shuffler."),
    # The serial lines to the boards.
    "board_up": MetricFamily(
        "gauge", "board_up", "Whether the board's session is open.", _BOARD_LABEL
    ),
    "board_fed": MetricFamily(
        "counter",
        "board_life_cards_fed_total",
        "Cards fed in the board's life, as it said when its session began.",
        _BOARD_LABEL,
    ),
    "board_landed": MetricFamily(
        "counter",
        "board_life_cards_landed_total",
        "Cards landed in the board's life, as it said when its session began.",
        _BOARD_LABEL,
    ),
    "line_junk": MetricFamily(
        "counter", "line_junk_frames_total", "Frames that were none.", _BOARD_LABEL
    ),
    "line_crc_errors": MetricFamily(
        "counter", "line_crc_errors_total", "Frames with a wrong checksum.", _BOARD_LABEL
    ),
    "line_oversize": MetricFamily(
        "counter", "line_oversize_frames_total", "Frames too long.", _BOARD_LABEL
    ),
    "line_malformed": MetricFamily(
        "counter", "line_malformed_frames_total", "Frames of a wrong layout.", _BOARD_LABEL
    ),
    "line_foreign": MetricFamily(
        "counter", "line_foreign_frames_total", "Frames of another session.", _BOARD_LABEL
    ),
    "line_resends": MetricFamily(
        "counter", "line_resends_total", "Commands sent once more.", _BOARD_LABEL
    ),
    "line_duplicates": MetricFamily(
        "counter", "line_duplicate_events_total", "Events that came again.", _BOARD_LABEL
    ),
    "line_gaps": MetricFamily(
        "counter", "line_early_events_total", "Events that came too early.", _BOARD_LABEL
    ),
    "line_lost": MetricFamily(
        "counter", "line_lost_events_total", "Events that the board forgot untaken.", _BOARD_LABEL
    ),
    "line_sessions": MetricFamily(
        "counter", "line_sessions_total", "Sessions opened.", _BOARD_LABEL
    ),
    # Durations and queues.
    "route_latency_seconds": MetricFamily(
        "histogram",
        "route_latency_seconds",
        "From the bytes that say where a card stands to its ROUTE, in the same read callback.",
    ),
    "journal_write_seconds": MetricFamily(
        "histogram",
        "journal_write_seconds",
        "From rows handed over to their commit; durable ones are synced, too.",
        ("durable",),
    ),
    "loop_lag_seconds": MetricFamily(
        "histogram", "loop_lag_seconds", "How late the machine's loop came to its timers."
    ),
    "journal_rows_waiting": MetricFamily(
        "gauge", "journal_rows_waiting", "Rows handed over and not yet committed."
    ),
    "wire_events_waiting": MetricFamily(
        "gauge", "wire_events_waiting", "Board events that are in no row yet."
    ),
    "gateway_unsent_bytes": MetricFamily(
        "gauge", "gateway_unsent_bytes", "Bytes for the gateways that they have not read."
    ),
    # The machine's process; the gateway's own has the usual process_ names.
    "machine_start_time_seconds": MetricFamily(
        "gauge", "machine_start_time_seconds", "When the machine's process began, in Unix time."
    ),
    "machine_cpu_seconds": MetricFamily(
        "counter", "machine_cpu_seconds_total", "CPU time of the machine's process."
    ),
    "machine_resident_memory_bytes": MetricFamily(
        "gauge", "machine_resident_memory_bytes", "Memory of the machine's process."
    ),
    # Observations of the gateway itself.
    "machine_up": MetricFamily("gauge", "machine_up", "Whether the gateway hears its machine."),
    "phase": MetricFamily("gauge", "phase", "1 for the machine's present phase.", ("phase",)),
    "alert": MetricFamily("gauge", "alert", "1 for each fault that is up now.", ("fault",)),
    "calls_waiting": MetricFamily("gauge", "calls_waiting", "People who wait for the referee."),
    "feed_messages": MetricFamily(
        "counter", "feed_messages_total", "Messages put on the feed.", ("topic",)
    ),
    "commands": MetricFamily(
        "counter",
        "commands_total",
        "Answers to commands: ok, or the name of the refusal.",
        ("cmd", "answer"),
    ),
    "command_reply_seconds": MetricFamily(
        "histogram",
        "command_reply_seconds",
        "From a command's arrival to the machine's answer; some wait for people.",
    ),
    "commands_waiting": MetricFamily(
        "gauge", "commands_waiting", "Commands that the machine has not answered yet."
    ),
    "keys_refused": MetricFamily(
        "counter",
        "keys_refused_total",
        "Connections with a key not admitted, by the name of the refusal.",
        ("why",),
    ),
    "keys_expiring": MetricFamily("gauge", "keys_expiring", "Keys that expire within a week."),
    "connections_cut": MetricFamily(
        "counter",
        "connections_cut_total",
        "Times that all clients had to connect anew because a key was taken away or expired.",
    ),
    "orders_refused": MetricFamily(
        "counter",
        "orders_refused_total",
        "Signed commands that the machine itself refused for key, role, signature or run.",
        ("why",),
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
    """Return all metrics in Prometheus' text format; each number has `table` and `simulated`.

    A number whose name or labels match no family is left out, because its machine has another
    version.
    """
    registry = CollectorRegistry(auto_describe=False)
    whose = {"table": table, "simulated": simulated}
    registry.register(
        _FixedCollector(list(_add_labels(_build_metrics(samples, distributions), whose)))
    )
    return generate_latest(registry)


class _FixedCollector(Collector):
    """A collector that returns metrics that were built before."""

    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _add_labels(metrics: Iterable[Metric], labels: dict[str, str]) -> Iterator[Metric]:
    for metric in metrics:
        metric.samples = [
            sample._replace(labels={**labels, **sample.labels}) for sample in metric.samples
        ]
        yield metric


def _build_metrics(
    samples: Sequence[MetricSample], distributions: Sequence[MetricDistribution]
) -> Iterator[Metric]:
    numbers = _group_by_family(samples)
    histograms = _group_by_family(distributions)
    for key, family in METRIC_FAMILIES.items():
        if family.kind == "histogram" and key in histograms:
            yield _histogram_metric(family, histograms[key])
        elif key in numbers:
            yield _number_metric(family, numbers[key])
    yield from ProcessCollector(registry=None).collect()


def _group_by_family(values: Sequence[MetricValue]) -> dict[str, list[MetricValue]]:
    """Group values by family. Values that match no family are left out."""
    found: dict[str, list[MetricValue]] = {}
    for each in values:
        family = METRIC_FAMILIES.get(each.name)
        if family is not None and len(family.labels) == len(each.labels):
            found.setdefault(each.name, []).append(each)
    return found


def _number_metric(family: MetricFamily, samples: Sequence[MetricSample]) -> Metric:
    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    metric = kind(METRIC_PREFIX + family.name, family.help, labels=family.labels)
    for sample in samples:
        metric.add_metric(sample.labels, sample.value)
    return metric


def _histogram_metric(family: MetricFamily, distributions: Sequence[MetricDistribution]) -> Metric:
    """Return a histogram with cumulative counts by upper bound, as Prometheus expects them."""
    metric = HistogramMetricFamily(METRIC_PREFIX + family.name, family.help, labels=family.labels)
    for told in distributions:
        bounds = [*map(str, told.bounds_s), "+Inf"]
        buckets = list(zip(bounds, accumulate(told.counts), strict=True))
        metric.add_metric(told.labels, buckets, told.sum_s)
    return metric
