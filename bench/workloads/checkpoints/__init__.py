"""Checkpoints: what they cost, how long a slot stands still for them, and how soon a job is back."""

from bench.model import Benchmark, Report

_PACKAGE = "bench.workloads.checkpoints"

BENCHMARKS: tuple[Benchmark, ...] = (
    Report(
        name="checkpoint-cost",
        summary="keyed count with and without checkpoints: 1,000 keys every second, 1 M keys every 10 s; 2 slots",
        module=f"{_PACKAGE}.run_cost",
        options=("runs",),
        timeout_seconds=2400,
    ),
    Report(
        name="snapshot-stall",
        summary="a snapshot of 10 M small entries in a slot's memory: how long the slot stands still",
        module=f"{_PACKAGE}.run_stall",
        options=("records",),
        timeout_seconds=900,
    ),
    Report(
        name="rocksdb",
        summary="keyed count on rocksdb beside hashmap; and what incremental checkpoints write",
        module=f"{_PACKAGE}.run_rocksdb",
        options=("runs",),
        timeout_seconds=1800,
    ),
    Report(
        name="recovery",
        summary="from a killed slot to the first new result; and a start from a savepoint of 1 GB",
        module=f"{_PACKAGE}.run_recovery",
        options=("runs",),
        timeout_seconds=1800,
    ),
)
