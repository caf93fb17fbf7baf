"""Aggregation in event-time windows: tumbling windows, and sessions."""

from bench.model import Benchmark, Engine, Workload


def _engines(kind: str, pyflink_records: int) -> tuple[Engine, ...]:
    module = "bench.workloads.windows.run_"
    arguments = ("--sessions", "1") if kind == "sessions" else ()
    return (
        Engine(
            "spry",
            f"{module}spry",
            records=30_000_000,
            arguments=arguments,
            measured="2 slots; from the start of the first epoch to the end of the job",
        ),
        Engine(
            "loop",
            f"{module}loop",
            records=10_000_000,
            arguments=arguments,
            measured="one thread, the same steps written out inline; the loop",
        ),
        Engine(
            "bytewax",
            f"{module}bytewax",
            records=400_000,
            arguments=arguments,
            environment="bytewax",
            measured="2 worker processes; from the first record to the end",
        ),
        Engine(
            "bytewax-1",
            f"{module}bytewax",
            records=400_000,
            arguments=arguments,
            options=("--workers", "1"),
            environment="bytewax",
            measured="1 worker; from the first record to the end",
        ),
        Engine(
            "pyflink",
            f"{module}pyflink",
            records=pyflink_records,
            arguments=arguments,
            environment="pyflink",
            measured="2 slots, thread mode (each reads its half: one alone would make the second half late); "
            "from the first record to the close of the last function",
        ),
    )


BENCHMARKS: tuple[Benchmark, ...] = (
    Workload(
        name="tumbling-aggregate",
        summary="sequence -> map -> timestamps -> key_by (1,000 keys) -> 10 s event-time windows -> aggregate; 2 slots",
        engines=_engines("tumbling", 400_000),
    ),
    Workload(
        name="session-aggregate",
        summary="sequence -> map -> timestamps -> key_by (1,000 keys) -> event-time sessions -> aggregate; 2 slots",
        engines=_engines("sessions", 200_000),
    ),
)
