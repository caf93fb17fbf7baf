"""A keyed shuffle of much data: the memory of the slots must not grow with it."""

from bench.model import Benchmark, Report

BENCHMARKS: tuple[Benchmark, ...] = (
    Report(
        name="shuffle-memory",
        summary="10 M records of 200 bytes through a keyed shuffle, in short epochs and in huge ones: slots' memory",
        module="bench.workloads.shuffle_memory.run",
        options=("records",),
        timeout_seconds=1800,
    ),
)
