"""How long a small program takes from its start to its first result."""

from bench.model import Benchmark, Report

BENCHMARKS: tuple[Benchmark, ...] = (
    Report(
        name="first-result",
        summary="a small program from the start of its process to its first printed line, and to its end",
        module="bench.workloads.first_result.run",
        options=("runs",),
    ),
)
