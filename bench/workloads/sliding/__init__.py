"""Long windows with a short slide."""

from bench.model import Benchmark, Report

BENCHMARKS: tuple[Benchmark, ...] = (
    Report(
        name="sliding-panes",
        summary="windows of 1 h every second beside tumbling windows: time per record, aggregate and reduce; 2 slots",
        module="bench.workloads.sliding.run",
        options=("records", "runs"),
    ),
)
