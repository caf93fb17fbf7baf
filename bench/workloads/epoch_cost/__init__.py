"""What an epoch costs that has next to nothing to do."""

from bench.model import Benchmark, Report

BENCHMARKS: tuple[Benchmark, ...] = (
    Report(
        name="epoch-cost",
        summary="median time of an epoch of one record per slot, beside an empty JVM job of the same shape",
        module="bench.workloads.epoch_cost.run",
        options=("epochs", "runs"),
    ),
)
