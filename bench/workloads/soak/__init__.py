"""Whether a job that runs for a long time stays as it is."""

from bench.model import Benchmark, Report

BENCHMARKS: tuple[Benchmark, ...] = (
    Report(
        name="soak",
        summary="disk, heap, memory, threads and open files of a keyed job over thousands of short epochs; 2 slots",
        module="bench.workloads.soak.run",
        options=("epochs",),
        timeout_seconds=3600,
    ),
)
