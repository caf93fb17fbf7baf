"""Windows whose contents are in RocksDB, beside the slow model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spry.common.keys import KeySelection
from spry.common.operators import WindowOperator
from spry.datastream.window import (
    CountEvictor,
    CountTrigger,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from spry.runtime.state.rocksdb import RocksDBKeyedStateBackend
from spry.runtime.testing import OperatorHarness
from tests.runtime.windows import model
from tests.runtime.windows.model import as_results
from tests.runtime.windows.test_properties import AllElements, cuts, operator, outcome, streams

ON_DISK = {"state.backend.type": "rocksdb", "spry.state.rocksdb.cache-entries": "2"}


@pytest.fixture(autouse=True)
def on_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Harnesses have RocksDB, with next to no cache."""
    import tests.runtime.windows.test_properties as properties

    def harness(*arguments: Any, **settings: Any) -> OperatorHarness:
        return OperatorHarness(*arguments, configuration=ON_DISK, **settings)

    monkeypatch.setattr(properties, "OperatorHarness", harness)
    yield


few = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
lateness = st.sampled_from([0, 0, 3, 20])


@few
@given(streams, st.integers(1, 30), st.integers(1, 30), lateness, st.booleans(), cuts)
def test_windows_of_time(stream: Any, size: int, slide: int, late: int, incremental: bool, random: Any) -> None:
    found = outcome(operator(SlidingEventTimeWindows(size, slide), None, late, incremental), stream, random)
    compare(found, model.time_windows(stream, model.sliding(size, slide, 0), late))


@few
@given(streams, st.integers(1, 25), lateness, st.booleans(), cuts)
def test_sessions(stream: Any, gap: int, late: int, incremental: bool, random: Any) -> None:
    found = outcome(operator(EventTimeSessionWindows(gap), None, late, incremental), stream, random)
    compare(found, model.sessions(stream, lambda _: gap, late))


def compare(found: Any, expected: Any) -> None:
    def unordered(results: list[Any]) -> list[Any]:
        return as_results([(*result[:-1], tuple(sorted(result[-1]))) for result in results])

    assert unordered(found.results) == unordered(expected.results)
    assert as_results(found.late) == as_results(expected.late)


def test_contents_are_in_the_database_while_windows_last() -> None:
    with OperatorHarness(operator(TumblingEventTimeWindows(10)), configuration=ON_DISK) as harness:
        (backend,) = (b for b in harness.subtask.contexts[0].keyed_backends if b.name == "contents")
        assert isinstance(backend, RocksDBKeyedStateBackend)
        harness.push_timestamped(*[((key, n), n) for n in range(30) for key in "abc"])
        harness.end_epoch()
        assert len(backend.table("windows")) == 9
        harness.watermark(9)
        assert len(backend.table("windows")) == 6
        harness.watermark(100)
        assert len(backend.table("windows")) == 0
        assert len(harness.values()) == 9


def test_an_evictor_changes_what_is_kept() -> None:
    description = WindowOperator(
        TumblingEventTimeWindows(100),
        CountTrigger.of(2),
        None,
        AllElements(),
        evictor=CountEvictor.of(3),
        key=KeySelection.of_fields((0,)),
    )
    with OperatorHarness(description, configuration=ON_DISK) as harness:
        for n in range(6):
            for key in "abcd":
                harness.push((key, n), timestamp=n)
            harness.end_epoch()
        assert [result[-1] for result in harness.values() if result[0] == "a"] == [(0, 1), (1, 2, 3), (3, 4, 5)]


def test_panes_and_batches_stay_in_memory() -> None:
    panes = operator(SlidingEventTimeWindows(80, 5))
    for description, batch in ((panes, False), (operator(TumblingEventTimeWindows(10)), True)):
        with OperatorHarness(description, configuration=ON_DISK, batch=batch) as harness:
            assert all(backend.name != "contents" for backend in harness.subtask.contexts[0].keyed_backends)
