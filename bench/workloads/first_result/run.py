"""Times a small program from outside: its process, its first printed line, its end.

What Spark needs for itself is what Spry says of it on standard error. Beside it, in turns, a program that does
nothing but start Spark and stop it: the least that any program on Spark takes.
"""

import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import IO

from bench.program import parse
from bench.reports import load_average, publish, verdict

TARGET_SECONDS = 8.0
PROGRAM = ("-m", "bench.workloads.first_result.program")
BARE = (
    "-c",
    "from pyspark import SparkContext as S; c = S('local[*]', 'bare'); print(c._jsc.emptyRDD().count()); c.stop()",
)
STARTED = re.compile(r"^Spark \S+ started at \S+ in ([0-9.]+) s$")


def read(stream: IO[str], take: Callable[[str], None]) -> threading.Thread:
    def run() -> None:
        for line in stream:
            take(line.rstrip("\n"))

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def time_program(command: tuple[str, ...]) -> dict[str, float]:
    """Seconds to the first line and to the end, and those of Spark's start if the program tells."""
    found: dict[str, float] = {}
    errors: list[str] = []
    started = time.perf_counter()

    def out(line: str) -> None:
        found.setdefault("first", time.perf_counter() - started)

    def err(line: str) -> None:
        errors.append(line)
        match = STARTED.match(line)
        if match:
            found["spark"] = float(match[1])
            found["ready"] = time.perf_counter() - started

    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    readers = [read(process.stdout, out), read(process.stderr, err)]
    code = process.wait()
    found["end"] = time.perf_counter() - started
    for reader in readers:
        reader.join()
    if code or "first" not in found:
        raise RuntimeError(f"the program ended with exit code {code}:\n" + "\n".join(errors[-30:]))
    return found


def main() -> None:
    options = parse(__doc__, records=0, runs=3)
    load = load_average()
    runs, bare = [], []
    for _ in range(options.runs):
        runs.append(time_program(PROGRAM))
        bare.append(time_program(BARE))

    rows, figures = [], {}

    def row(name: str, seconds: list[float], target: float | None = None) -> None:
        middle = statistics.median(seconds)
        figures[name] = round(middle, 2)
        goal = ["", ""] if target is None else [f"{target:.0f}", verdict(middle, target)]
        rows.append([name, f"{middle:.2f}", f"{min(seconds):.2f}", f"{max(seconds):.2f}", *goal])

    row("to the first printed line", [run["first"] for run in runs], TARGET_SECONDS)
    row("to the end", [run["end"] for run in runs])
    if all("spark" in run for run in runs):
        row("of that: Spark's own start", [run["spark"] for run in runs])
        row("of that: from Spark's start to the first line", [run["first"] - run["ready"] for run in runs])
    row("beside it: bare Spark, an empty job, to its result", [run["first"] for run in bare])
    row("beside it: bare Spark, to its end", [run["end"] for run in bare])
    publish(
        columns=["seconds", "median", "least", "most", "target", ""],
        rows=rows,
        figures=figures,
        load_before=load,
        notes=["from the start of the process: from_collection -> map -> key_by -> sum -> print on local[*]"],
    )


if __name__ == "__main__":
    main()
