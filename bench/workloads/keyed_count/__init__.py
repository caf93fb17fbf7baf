"""A sequence, counted per key with keyed state, filtered, summed."""

from bench.model import Benchmark, Engine, Workload

BENCHMARKS: tuple[Benchmark, ...] = (
    Workload(
        name="keyed-count",
        summary="sequence -> map -> key_by (1,000 keys) -> counter in keyed state -> filter -> sink; 2 slots",
        engines=(
            Engine(
                "spry",
                "bench.workloads.keyed_count.run_spry",
                records=60_000_000,
                measured="2 slots; from the start of the first epoch to the end of the job",
            ),
            Engine(
                "loop",
                "bench.workloads.keyed_count.run_loop",
                records=20_000_000,
                measured="one thread, the same steps written out inline; the loop",
            ),
            Engine(
                "least",
                "bench.workloads.keyed_count.run_least",
                records=20_000_000,
                measured="one thread, the least work that gives the answer (no records are built); the loop",
            ),
            Engine(
                "calls",
                "bench.workloads.keyed_count.run_calls",
                records=10_000_000,
                measured="one thread, a call per user function and record; the loop",
            ),
            Engine(
                "bytewax",
                "bench.workloads.keyed_count.run_bytewax",
                records=4_000_000,
                environment="bytewax",
                measured="2 worker processes (faster than 2 threads); from the first record to the end",
            ),
            Engine(
                "bytewax-1",
                "bench.workloads.keyed_count.run_bytewax",
                records=4_000_000,
                options=("--workers", "1"),
                environment="bytewax",
                measured="1 worker; from the first record to the end",
            ),
            Engine(
                "pyflink",
                "bench.workloads.keyed_count.run_pyflink",
                records=400_000,
                environment="pyflink",
                measured="2 slots, thread mode; from the first record to the close of the last function",
            ),
            Engine(
                "pyflink-1",
                "bench.workloads.keyed_count.run_pyflink",
                records=400_000,
                options=("--workers", "1"),
                environment="pyflink",
                measured="1 slot, thread mode; from the first record to the close of the last function",
            ),
            Engine(
                "spark",
                "bench.workloads.keyed_count.run_spark",
                records=301_000,
                environment="spark",
                measured="transformWithStateInPandas, 2 partitions, the same program as the others: the state is "
                "read and updated per record; micro-batches of 100,000 records; their trigger times, without the first",
            ),
            Engine(
                "spark-frames",
                "bench.workloads.keyed_count.run_spark",
                records=1_001_000,
                options=("--frames", "1"),
                environment="spark",
                measured="the state is read and updated once per key and micro-batch, NumPy counts in between; "
                "micro-batches of 100,000 records, which take about a second each",
            ),
            Engine(
                "spark-frames-2m",
                "bench.workloads.keyed_count.run_spark",
                records=8_001_000,
                options=("--frames", "1", "--batch", "2000000"),
                environment="spark",
                measured="the same with micro-batches of 2,000,000 records (larger ones are hardly faster)",
            ),
        ),
    ),
)
