"""Operator state: a source that knows how far it has come, and a sink that keeps what waits for its batch.

In between a function fails once. The job restarts from its last checkpoint: the source goes back, the sink gets back
what it had not written, and so the same batches come again. A batch that is written again replaces itself.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

from spry.common import RestartStrategies, Types
from spry.datastream import (
    CheckpointedFunction,
    MapFunction,
    SinkFunction,
    SourceFunction,
    StreamExecutionEnvironment,
)
from spry.datastream.state import ListStateDescriptor


class CounterSource(SourceFunction, CheckpointedFunction):
    """Counts from 0 on. The next number is its state."""

    def __init__(self, end: int) -> None:
        self.end = end
        self.next = 0
        self.running = True

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.state = store.get_list_state(ListStateDescriptor("next", Types.LONG()))
        if context.is_restored():
            self.next = max(self.state.get(), default=0)

    def snapshot_state(self, context: Any) -> None:
        self.state.update([self.next])

    def run(self, ctx: Any) -> None:
        while self.running and self.next < self.end:
            # No checkpoint comes between the two: it has the number emitted and counted, or neither.
            with ctx.get_checkpoint_lock():
                ctx.collect(self.next)
                self.next += 1
            time.sleep(0.01)

    def cancel(self) -> None:
        self.running = False


class FailOnce(MapFunction):
    """Fails at a number, unless it has done so before."""

    def __init__(self, number: int, mark: Path) -> None:
        self.number = number
        self.mark = mark

    def map(self, value: int) -> int:
        if value == self.number and not self.mark.exists():
            self.mark.touch()
            raise RuntimeError("on purpose")
        return value


class BufferingSink(SinkFunction, CheckpointedFunction):
    """Writes a file per batch. What waits for its batch is its state."""

    def __init__(self, directory: Path, batch_size: int) -> None:
        self.directory = directory
        self.batch_size = batch_size
        self.waiting: list[int] = []

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.state = store.get_list_state(ListStateDescriptor("waiting", Types.LONG()))
        if context.is_restored():
            self.waiting = list(self.state.get())

    def snapshot_state(self, context: Any) -> None:
        self.state.update(self.waiting)

    def invoke(self, value: int, context: Any) -> None:
        self.waiting.append(value)
        if len(self.waiting) == self.batch_size:
            self.write()

    def finish(self) -> None:
        if self.waiting:
            self.write()

    def write(self) -> None:
        (self.directory / f"from-{self.waiting[0]:03}.txt").write_text(" ".join(map(str, self.waiting)))
        self.waiting.clear()


def main() -> None:
    directory = Path(tempfile.mkdtemp(prefix="spry-example-"))
    (directory / "batches").mkdir()
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.enable_checkpointing(100)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 0))

    numbers = env.add_source(CounterSource(95), "counter").uid("counter")
    numbers.map(FailOnce(57, directory / "failed")).add_sink(BufferingSink(directory / "batches", 10)).uid("batches")
    client = env.execute_async("operator state")
    client.get_job_execution_result().result()

    print(f"restarts: {client.get_metrics()['job.restarts']}")
    for path in sorted((directory / "batches").iterdir()):
        print(f"{path.name}: {path.read_text()}")


if __name__ == "__main__":
    main()
