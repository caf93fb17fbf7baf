"""How the Bytewax programs run: as many processes as workers, on this machine.

Bytewax can run workers as threads (`-w`), which share one interpreter lock, or as processes (`-p`), which do
not. Two processes were faster than two threads on both keyed workloads, so two workers are two processes
here. A single worker can be faster still, since nothing crosses a process boundary: it is measured beside
them, so that Spry is held against Bytewax at its best.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from bytewax._bytewax import cluster_main
from bytewax.dataflow import Dataflow
from bytewax.inputs import DynamicSource, StatelessSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition

__all__ = ["BATCH", "Sink", "Source", "run"]

BATCH = 10_000
"""Records that a source hands over at a time; of 200, 1,000 and 10,000 this was the fastest (keyed-count)."""

_PROCESS = "SPRY_BENCH_BYTEWAX_PROCESS"


class _Clock:
    first: float | None = None


class _Batches(StatelessSourcePartition):
    """Hands on the batches of an iterator; notes when the first was asked for."""

    def __init__(self, batches: Any) -> None:
        self.batches = iter(batches)

    def next_batch(self) -> list[Any]:
        if _Clock.first is None:
            _Clock.first = time.monotonic()
        return next(self.batches)


class Source(DynamicSource):
    """A source from a function (worker index, worker count) -> iterable of lists."""

    def __init__(self, batches: Callable[[int, int], Any]) -> None:
        self.batches = batches

    def build(self, step_id: str, worker_index: int, worker_count: int) -> _Batches:
        return _Batches(self.batches(worker_index, worker_count))


class _SinkPartition(StatelessSinkPartition):
    """A sink that calls a function with each batch."""

    def __init__(self, write: Callable[[list[Any]], None]) -> None:
        self.write = write

    def write_batch(self, items: list[Any]) -> None:
        self.write(items)


class Sink(DynamicSink):
    def __init__(self, write: Callable[[list[Any]], None]) -> None:
        self.write = write

    def build(self, step_id: str, worker_index: int, worker_count: int) -> _SinkPartition:
        return _SinkPartition(self.write)


def _free_addresses(count: int) -> list[str]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    addresses = [f"127.0.0.1:{each.getsockname()[1]}" for each in sockets]
    for each in sockets:
        each.close()
    return addresses


def run(flow: Dataflow, workers: int, result: Callable[[], dict[str, int]]) -> tuple[float, dict[str, int]]:
    """Run the flow; return the seconds from the first record to the end, and the workers' results, summed.

    With more than one worker the program starts itself again, once per worker.
    """
    place = os.environ.get(_PROCESS)
    if place is not None:
        index, *addresses = place.split(";")
        cluster_main(flow, addresses, int(index))
        print(json.dumps([_Clock.first, time.monotonic(), result()]), flush=True)
        sys.exit(0)
    if workers == 1:
        cluster_main(flow, [], 0)
        ended = time.monotonic()
        return ended - (_Clock.first or ended), result()
    addresses = _free_addresses(workers)
    program = [sys.executable, *sys.orig_argv[1:]]
    processes = [
        subprocess.Popen(
            program,
            env={**os.environ, _PROCESS: ";".join([str(index), *addresses])},
            stdout=subprocess.PIPE,
            text=True,
        )
        for index in range(workers)
    ]
    outputs = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        sys.exit(f"a Bytewax worker failed: {[process.returncode for process in processes]}")
    parts = [json.loads(output.splitlines()[-1]) for output in outputs]
    total: dict[str, int] = {}
    for _, _, part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0) + value
    # The monotonic clock is the machine's, not the process's: times of different processes compare.
    return max(part[1] for part in parts) - min(part[0] for part in parts), total
