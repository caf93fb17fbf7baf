"""How long accesses to state take, as metrics tell it."""

from __future__ import annotations

from typing import Any

import pytest

from spry.datastream import KeyedProcessFunction, RuntimeContext
from spry.datastream.state import ListStateDescriptor, MapStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from spry.runtime.state.latency import LatencyHistogram
from spry.runtime.testing import OperatorHarness


class Access(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))
        self.all = runtime_context.get_list_state(ListStateDescriptor("all"))
        self.by_name = runtime_context.get_map_state(MapStateDescriptor("by name"))
        self.sum = runtime_context.get_reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        self.all.add(value)
        self.by_name[value] = 1
        self.sum.add(1)
        yield self.count.value(), list(self.all.get()), list(self.by_name.items()), self.sum.get()


def metrics(backend: str, records: int, **configuration: str) -> dict[str, Any]:
    given = {"state.backend.type": backend, **{f"state.{k}": v for k, v in configuration.items()}}
    with OperatorHarness(Access(), lambda _: "k", configuration=given) as harness:
        harness.push(*range(records))
        assert harness.values()[-1][0] == records
        return harness.subtask.contexts[0].metrics.values()


@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_accesses_are_measured_by_state_and_method(backend: str) -> None:
    found = metrics(backend, 10, **{"latency-track.keyed-state-enabled": "true", "latency-track.sample-interval": "2"})
    measured = {name: value["count"] for name, value in found.items() if name.endswith("Latency")}
    assert measured["state_name.count.valueStateGetLatency"] == 10
    assert measured["state_name.count.valueStateUpdateLatency"] == 5
    assert measured["state_name.count.valueStateClearLatency"] == 0
    assert measured["state_name.all.listStateAddLatency"] == 5
    assert measured["state_name.by name.mapStatePutLatency"] == 5
    assert measured["state_name.by name.mapStateEntriesInitLatency"] == 5
    assert measured["state_name.sum.reducingStateAddLatency"] == 5
    one = found["state_name.count.valueStateGetLatency"]
    assert 0 < one["min"] <= one["p50"] <= one["p95"] <= one["p99"] <= one["max"]
    assert one["min"] <= one["mean"] <= one["max"]


def test_names_of_states_may_be_part_of_the_names_of_metrics() -> None:
    found = metrics(
        "hashmap",
        1,
        **{"latency-track.keyed-state-enabled": "true", "latency-track.state-name-as-variable": "false"},
    )
    assert found["count.valueStateGetLatency"] == {"count": 0}, "one of a hundred is measured"


def test_nothing_is_measured_unless_it_is_asked_for() -> None:
    assert not any(name.endswith("Latency") for name in metrics("rocksdb", 1))
    with OperatorHarness(Access(), lambda _: "k") as harness:
        assert type(harness.subtask.chain.operators[0].function.count).__name__ == "ValueStateOfTable"  # type: ignore[attr-defined]


def test_only_the_latest_measurements_count() -> None:
    histogram = LatencyHistogram(3)
    for nanos in (1000, 1, 2, 3):
        histogram.update(nanos)
    assert histogram.value() == {"count": 4, "min": 1, "max": 3, "mean": 2.0, "p50": 2, "p95": 3, "p99": 3}
