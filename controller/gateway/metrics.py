"""The metrics as Prometheus reads them: the machine's numbers and the gateway's, with names.

Imported when somebody asks for the first time, so that a table which nobody scrapes does
not carry the library.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, TypeVar

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from controller.counting import MetricDistribution, MetricSample
from controller.gateway.families import METRIC_FAMILIES, MetricFamily

__all__ = ["CONTENT_TYPE_PLAIN_0_0_4", "render_metrics"]

METRIC_PREFIX: Final = "dealtable_"
MetricValue = TypeVar("MetricValue", MetricSample, MetricDistribution)


def render_metrics(
    table: str,
    simulated: str,
    samples: Sequence[MetricSample],
    distributions: Sequence[MetricDistribution],
) -> bytes:
    """Return everything in Prometheus' text format; each number has `table` and `simulated`.

    A number whose name or labels are in no family is passed over: its machine is of another
    version.
    """
    registry = CollectorRegistry(auto_describe=False)
    whose = {"table": table, "simulated": simulated}
    registry.register(
        _FixedCollector(list(_add_labels(_build_metrics(samples, distributions), whose)))
    )
    return generate_latest(registry)


class _FixedCollector(Collector):
    """Hands over what was worked out already."""

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
    """Sort what was told by family; what fits in none is left out."""
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
    """Build a histogram: cumulative counts by their upper bound, as Prometheus has them."""
    metric = HistogramMetricFamily(METRIC_PREFIX + family.name, family.help, labels=family.labels)
    for told in distributions:
        bounds = [*map(str, told.bounds_s), "+Inf"]
        buckets = list(zip(bounds, accumulate(told.counts), strict=True))
        metric.add_metric(told.labels, buckets, told.sum_s)
    return metric
