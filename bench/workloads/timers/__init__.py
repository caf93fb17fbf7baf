"""Timers: what a million of them cost."""

from bench.model import Benchmark, Report

BENCHMARKS: tuple[Benchmark, ...] = (
    Report(
        name="timers",
        summary="a million live timers in a slot: setting and firing each, and its memory",
        module="bench.workloads.timers.run",
        options=("records", "runs"),
    ),
)
