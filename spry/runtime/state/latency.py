"""How long accesses to keyed state take: one of so many is measured, per state and method."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from spry.common.configuration import Configuration
from spry.common.metrics import MetricGroup
from spry.common.options import StateBackendOptions
from spry.common.state import AggregatingState, ListState, MapState, ReducingState, State, ValueState

__all__ = ["LatencyHistogram", "LatencyTracking"]


class LatencyHistogram:
    """The latest measurements, in nanoseconds."""

    def __init__(self, history_size: int) -> None:
        self._count = 0
        self._latest: deque[int] = deque(maxlen=history_size)

    def update(self, nanos: int) -> None:
        """One more measurement."""
        self._count += 1
        self._latest.append(nanos)

    def value(self) -> dict[str, Any]:
        """How many measurements there were, and what the latest ones say."""
        known = sorted(self._latest)
        if not known:
            return {"count": 0}

        def quantile(part: float) -> int:
            return known[min(int(part * len(known)), len(known) - 1)]

        return {
            "count": self._count,
            "min": known[0],
            "max": known[-1],
            "mean": sum(known) / len(known),
            "p50": quantile(0.5),
            "p95": quantile(0.95),
            "p99": quantile(0.99),
        }


class LatencyTracking:
    """Wraps the states of an operator."""

    def __init__(
        self, group: MetricGroup, sample_interval: int = 100, history_size: int = 128, name_as_variable: bool = True
    ) -> None:
        self._group = group
        self._interval = sample_interval
        self._history_size = history_size
        self._name_as_variable = name_as_variable

    @staticmethod
    def of(configuration: Mapping[str, str], group: MetricGroup) -> LatencyTracking | None:
        """The tracking that the configuration asks for, None if it asks for none."""
        if not any("latency-track" in key for key in configuration):
            return None
        given = Configuration.from_dict(configuration)
        if not given.get(StateBackendOptions.LATENCY_TRACK_ENABLED):
            return None
        return LatencyTracking(
            group,
            given.get(StateBackendOptions.LATENCY_TRACK_SAMPLE_INTERVAL),
            given.get(StateBackendOptions.LATENCY_TRACK_HISTORY_SIZE),
            given.get(StateBackendOptions.LATENCY_TRACK_STATE_NAME_AS_VARIABLE),
        )

    def track(self, name: str, state: Any) -> Any:
        """The state; from now on its methods are measured."""
        cls = type(state)
        _, prefix, methods = next(known for known in _KINDS if isinstance(state, known[0]))
        group = self._group.add_group("state_name", name) if self._name_as_variable else self._group.add_group(name)
        body: dict[str, Any] = {"__slots__": ()}
        for method, metric in methods.items():
            histogram = LatencyHistogram(self._history_size)
            group.gauge(f"{prefix}{metric}Latency", histogram.value)
            body[method] = _measured(getattr(cls, method), histogram, self._interval)
        state.__class__ = type(f"Tracked{cls.__name__}", (cls,), body)
        return state


def _measured(call: Callable[..., Any], histogram: LatencyHistogram, interval: int) -> Callable[..., Any]:
    clock = time.perf_counter_ns
    calls = 0

    def measured(self: Any, *arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls < interval:
            return call(self, *arguments)
        calls = 0
        started = clock()
        result = call(self, *arguments)
        histogram.update(clock() - started)
        return result

    return measured


_KINDS: tuple[tuple[type[State], str, dict[str, str]], ...] = (
    (ValueState, "valueState", {"value": "Get", "update": "Update", "clear": "Clear"}),
    (
        ListState,
        "listState",
        {"get": "Get", "add": "Add", "add_all": "AddAll", "update": "Update", "clear": "Clear"},
    ),
    (
        MapState,
        "mapState",
        {
            "get": "Get",
            "put": "Put",
            "put_all": "PutAll",
            "remove": "Remove",
            "contains": "Contains",
            "items": "EntriesInit",
            "keys": "KeysInit",
            "values": "ValuesInit",
            "is_empty": "IsEmpty",
            "clear": "Clear",
        },
    ),
    (ReducingState, "reducingState", {"get": "Get", "add": "Add", "clear": "Clear"}),
    (AggregatingState, "aggregatingState", {"get": "Get", "add": "Add", "clear": "Clear"}),
)
"""A kind of state, what its metrics begin with, and what they call its methods: as in Flink."""
