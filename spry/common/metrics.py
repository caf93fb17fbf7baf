"""Metrics that a function keeps: counters, gauges, meters and distributions, in named groups."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

__all__ = ["Counter", "Distribution", "Gauge", "Meter", "Metric", "MetricGroup", "MetricRegistry"]


class Metric:
    """Base of all metrics."""

    __slots__ = ()


class Counter(Metric):
    """A number that goes up and down."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def inc(self, n: int = 1) -> None:
        self._count += n

    def dec(self, n: int = 1) -> None:
        self._count -= n

    def get_count(self) -> int:
        return self._count

    def value(self) -> Any:
        return self._count


class Gauge(Metric):
    """A value that is asked for when metrics are reported."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function

    def value(self) -> Any:
        return self._function()


class Meter(Metric):
    """A rate: events per second over the last ``time_span_in_seconds``."""

    __slots__ = ("_count", "_marks", "_span")

    def __init__(self, time_span_in_seconds: int = 60) -> None:
        self._span = time_span_in_seconds
        self._count = 0
        self._marks: list[tuple[float, int]] = []

    def mark_event(self, value: int = 1) -> None:
        self._count += value

    def get_count(self) -> int:
        return self._count

    def get_rate(self) -> float:
        now = time.monotonic()
        self._marks.append((now, self._count))
        while len(self._marks) > 2 and self._marks[1][0] < now - self._span:
            self._marks.pop(0)
        elapsed = now - self._marks[0][0]
        return (self._count - self._marks[0][1]) / elapsed if elapsed > 0 else 0.0

    def value(self) -> Any:
        return {"count": self._count, "rate": self.get_rate()}


class Distribution(Metric):
    """Count, sum, smallest, largest and mean of the values it was given."""

    __slots__ = ("_count", "_max", "_min", "_sum")

    def __init__(self) -> None:
        self._count = 0
        self._sum = 0
        self._min: int | None = None
        self._max: int | None = None

    def update(self, value: int) -> None:
        self._count += 1
        self._sum += value
        if self._min is None or value < self._min:
            self._min = value
        if self._max is None or value > self._max:
            self._max = value

    def value(self) -> Any:
        mean = self._sum / self._count if self._count else None
        return {"count": self._count, "sum": self._sum, "min": self._min, "max": self._max, "mean": mean}


class MetricRegistry:
    """All metrics of one subtask of one operator, by full name."""

    def __init__(self) -> None:
        self._metrics: dict[str, Counter | Gauge | Meter | Distribution] = {}

    def register(self, name: str, metric: Any) -> Any:
        """The metric registered under the name: the given one, or the one of the same kind that was there."""
        known = self._metrics.get(name)
        if known is not None and type(known) is type(metric) and not isinstance(metric, Gauge):
            return known
        self._metrics[name] = metric
        return metric

    def values(self) -> dict[str, Any]:
        return {name: _value(metric) for name, metric in self._metrics.items()}

    def __len__(self) -> int:
        return len(self._metrics)


def _value(metric: Counter | Gauge | Meter | Distribution) -> Any:
    try:
        return metric.value()
    except Exception as error:
        # A gauge is the user's code: a metric that cannot be read is no reason to end the job.
        return f"{type(error).__name__}: {error}"


class MetricGroup:
    """A named place for metrics. ``runtime_context.get_metrics_group()`` gives an operator's own.

    >>> group = MetricGroup(MetricRegistry())
    >>> bad = group.add_group("parser").counter("bad_lines")
    >>> bad.inc()
    >>> bad.get_count()
    1
    """

    def __init__(self, registry: MetricRegistry, path: tuple[str, ...] = (), labels: dict[str, str] | None = None):
        self._registry = registry
        self._path = path
        self._labels = dict(labels or {})

    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """A group below this one; with ``extra`` a key-value pair (name=extra)."""
        if extra is None:
            return MetricGroup(self._registry, (*self._path, name), self._labels)
        return MetricGroup(self._registry, (*self._path, name, extra), {**self._labels, name: extra})

    def counter(self, name: str) -> Counter:
        counter: Counter = self._registry.register(self.get_metric_identifier(name), Counter())
        return counter

    def gauge(self, name: str, obj: Callable[[], Any]) -> Gauge:
        gauge: Gauge = self._registry.register(self.get_metric_identifier(name), Gauge(obj))
        return gauge

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        meter: Meter = self._registry.register(self.get_metric_identifier(name), Meter(time_span_in_seconds))
        return meter

    def distribution(self, name: str) -> Distribution:
        distribution: Distribution = self._registry.register(self.get_metric_identifier(name), Distribution())
        return distribution

    def get_metric_identifier(self, name: str) -> str:
        return ".".join((*self._path, name))

    def get_scope_components(self) -> list[str]:
        return list(self._path)

    def get_all_variables(self) -> dict[str, str]:
        return dict(self._labels)
