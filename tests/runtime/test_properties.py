"""Random programs: what comes out does not depend on how the program is run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spry.datastream import DataStream, KeyedProcessFunction, OutputTag, ProcessFunction, RuntimeContext
from spry.datastream.state import ListStateDescriptor
from tests.local_job import program

ODD = OutputTag("odd")


class Split(ProcessFunction):
    """Even numbers go on, odd ones to the side."""

    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        if value % 2:
            yield ODD, value
        else:
            yield value


class Sizes(KeyedProcessFunction):
    """How many came of each key, and the sum so far: does not depend on the order of equal values."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        self.seen.add(value)
        yield len(list(self.seen.get())) * 1000 + ctx.get_current_key()


@dataclass(frozen=True)
class Step:
    kind: str
    number: int


KINDS = [
    "map",
    "filter",
    "flat_map",
    "count_by_key",
    "state",
    "union",
    "rebalance",
    "rescale",
    "shuffle",
    "broadcast",
    "global_",
    "forget_half",
    "side",
    "fan_out",
    "parallelism",
    "new_chain",
]
STEPS = st.lists(st.builds(Step, st.sampled_from(KINDS), st.integers(0, 7)), min_size=1, max_size=8)


def apply(stream: DataStream, step: Step, parallelism: int, branches: list[DataStream]) -> DataStream:
    n = step.number
    if step.kind == "map":
        return stream.map(lambda v: v * 3 + n)
    if step.kind == "filter":
        return stream.filter(lambda v: v % 8 != n)
    if step.kind == "flat_map":
        return stream.flat_map(lambda v: [v + i for i in range(n % 3)])
    if step.kind == "count_by_key":
        # Every record counts for one, so the running counts of a key do not depend on their order.
        ones = stream.map(lambda v: (v % (n + 1), 1))
        return ones.key_by(lambda r: r[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).map(lambda r: r[0] * 1000 + r[1])
    if step.kind == "state":
        return stream.key_by(lambda v: v % (n + 2)).process(Sizes())
    if step.kind == "union":
        return stream.union(stream, branches[n % len(branches)]) if branches else stream.union(stream)
    if step.kind in ("rebalance", "rescale", "shuffle", "global_"):
        return getattr(stream, step.kind)().map(lambda v: v + 1)  # type: ignore[no-any-return]
    if step.kind == "broadcast":
        # Each record once per subtask: to one subtask, so that the number of copies does not vary.
        return stream.broadcast().map(lambda v: v - 1).set_parallelism(1)
    if step.kind == "side":
        split = stream.process(Split())
        branches.append(split.get_side_output(ODD).map(lambda v: v + n))
        return split
    if step.kind == "fan_out":
        branches.append(stream.map(lambda v: -v))
        return stream.map(lambda v: v + 2)
    if step.kind == "parallelism":
        return stream.map(lambda v: v).set_parallelism(min(parallelism, 1 + n % 4))
    if step.kind == "new_chain":
        return stream.map(lambda v: v).start_new_chain()
    return stream.filter(lambda v: v % 2 == 0)


def outcome(
    steps: list[Step],
    numbers: list[int],
    parallelism: int,
    max_records: int,
    *,
    chaining: bool = True,
    seed: int | None = None,
    object_reuse: bool = False,
) -> list[Counter[Any]]:
    env, job = program(
        parallelism,
        chaining=chaining,
        max_records=max_records,
        seed=seed,
        object_reuse=object_reuse,
    )
    stream: DataStream = env.from_collection(numbers)
    branches: list[DataStream] = []
    for step in steps:
        stream = apply(stream, step, parallelism, branches)
    results = [job.collect(end) for end in (stream, *branches)]
    job.run()
    return [Counter(result) for result in results]


SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
NUMBERS = st.lists(st.integers(-50, 50), max_size=25)


@SLOW
@given(STEPS, NUMBERS, st.integers(2, 4), st.integers(1, 30), st.integers(0, 1000))
def test_results_do_not_depend_on_how_a_program_is_run(
    steps: list[Step], numbers: list[int], parallelism: int, max_records: int, seed: int
) -> None:
    expected = outcome(steps, numbers, 1, 1000)
    assert outcome(steps, numbers, parallelism, 1000) == expected, "parallelism"
    assert outcome(steps, numbers, 1, max_records) == expected, "epochs"
    assert outcome(steps, numbers, 1, 1000, chaining=False) == expected, "chaining"
    assert outcome(steps, numbers, parallelism, max_records, chaining=False, seed=seed) == expected, "all of these"


class Journal(KeyedProcessFunction):
    """Emits everything of the key so far."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        self.seen.add(value[1])
        yield ctx.get_current_key(), tuple(self.seen.get())


@SLOW
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=40),
    st.integers(1, 4),
    st.integers(1, 50),
    st.booleans(),
    st.integers(0, 1000),
)
def test_the_order_of_a_key_is_kept(
    keys: list[int], parallelism: int, max_records: int, chaining: bool, seed: int
) -> None:
    env, job = program(parallelism, chaining=chaining, max_records=max_records, seed=seed)
    records = [(key, at) for at, key in enumerate(keys)]
    # Three shuffles by the same key: whoever is the first to see a key's records in order hands them on in order.
    stream = env.from_collection(records).key_by(lambda r: r[0]).map(lambda r: r)
    stream = stream.key_by(lambda r: r[0]).filter(lambda r: True)
    result = job.collect(stream.key_by(lambda r: r[0]).process(Journal()))
    job.run()
    by_key: dict[int, list[int]] = {}
    expected = []
    for key, at in records:
        by_key.setdefault(key, []).append(at)
        expected.append((key, tuple(by_key[key])))
    assert Counter(result) == Counter(expected)


@pytest.mark.parametrize("parallelism", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_everything_at_once(parallelism: int, seed: int | None) -> None:
    steps = [Step(kind, at % 8) for at, kind in enumerate(KINDS)]
    numbers = list(range(-20, 20))
    expected = outcome(steps, numbers, 1, 1000)
    assert sum(sum(counter.values()) for counter in expected) > 100
    assert outcome(steps, numbers, parallelism, 7, seed=seed) == expected
    assert outcome(steps, numbers, parallelism, 7, seed=seed, object_reuse=True) == expected


@SLOW
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9)), max_size=30), st.integers(1, 4), st.integers(1, 40))
def test_batch_and_streaming_agree_on_the_final_results(
    records: list[tuple[int, int]], parallelism: int, max_records: int
) -> None:
    finals: list[dict[int, int]] = []
    for batch in (True, False):
        env, job = program(parallelism, max_records=max_records, batch=batch)
        sums = env.from_collection(records).key_by(lambda r: r[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
        result = job.collect(sums)
        job.run()
        if batch:
            assert len(result) == len({key for key, _ in records}), "one result per key"
        finals.append(dict(result))
    assert finals[0] == finals[1]
