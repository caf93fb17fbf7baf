"""A text file, counted word by word."""

from bench.model import Benchmark, Engine, Workload
from bench.workloads.word_count.words import make_text

BENCHMARKS: tuple[Benchmark, ...] = (
    Workload(
        name="word-count",
        summary="100 MB of text -> split -> rolling count per word (10,000 words, Zipf) -> sink; 2 slots",
        prepare=make_text,
        engines=(
            Engine(
                "spry",
                "bench.workloads.word_count.run_spry",
                records=15_000_000,
                measured="2 slots; from the start of the first epoch to the end of the job",
            ),
            Engine(
                "loop",
                "bench.workloads.word_count.run_loop",
                records=15_000_000,
                measured="one thread, the same steps written out inline; the loop",
            ),
            Engine(
                "least",
                "bench.workloads.word_count.run_least",
                records=15_000_000,
                measured="one thread, the least work that gives the answer (no records are built); the loop",
            ),
            Engine(
                "bytewax",
                "bench.workloads.word_count.run_bytewax",
                records=4_000_000,
                environment="bytewax",
                measured="2 worker processes (faster than 2 threads); from the first line to the end",
            ),
            Engine(
                "bytewax-1",
                "bench.workloads.word_count.run_bytewax",
                records=4_000_000,
                options=("--workers", "1"),
                environment="bytewax",
                measured="1 worker; from the first line to the end",
            ),
        ),
    ),
)
