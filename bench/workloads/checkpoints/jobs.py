"""The jobs that these benchmarks run."""

import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

from bench.reports import Discard, environment
from spry.common import Types
from spry.datastream import KeyedProcessFunction, RuntimeContext
from spry.datastream.state import ValueStateDescriptor

__all__ = ["Count", "Keep", "count", "directory"]


class Count(KeyedProcessFunction):
    """Emits (key, how many records of this key so far) for every record."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: tuple[int, int], ctx: KeyedProcessFunction.Context) -> Iterator[tuple[int, int]]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count


class Keep(KeyedProcessFunction):
    """Keeps some bytes for every key, and emits the key."""

    def __init__(self, size: int) -> None:
        self.size = size

    def open(self, runtime_context: RuntimeContext) -> None:
        self.kept = runtime_context.get_state(ValueStateDescriptor("kept"))

    def process_element(self, value: tuple[int, int], ctx: KeyedProcessFunction.Context) -> Iterator[int]:
        if self.kept.value() is None:
            self.kept.update(value[0].to_bytes(8, "little") * (self.size // 8))
        yield value[0]


def directory() -> tempfile.TemporaryDirectory[str]:
    """A directory for checkpoints, which goes when it is closed."""
    return tempfile.TemporaryDirectory(prefix="spry-bench-")


def count(records: int, keys: int, parallelism: int, options: Mapping[str, str]) -> tuple[float, dict[str, Any]]:
    """Count so many records by key; gives the seconds of the job and its metrics."""
    env = environment(parallelism, options)
    (
        env.from_sequence(0, records - 1)
        .map(lambda i: (i % keys, i))
        .key_by(lambda record: record[0])
        .process(Count())
        .filter(lambda record: record[1] % 100 == 0)
        .add_sink(Discard())
    )
    client = env.execute_async("count")
    seconds = client.get_job_execution_result().result().get_net_runtime() / 1000
    return seconds, client.get_metrics()
