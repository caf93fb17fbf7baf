"""Sends records of 200 bytes through a keyed shuffle and watches how much memory each slot takes.

Once with epochs as they are by default, and once with epochs that have no limit: they grow fourfold from one to the
next, so that the last ones hold most of the input. Each in a process of its own. (Linux only.)
"""

import json
import subprocess
import sys
import threading
from typing import Any

from bench.processes import peak_rss, slot_pids
from bench.program import parse
from bench.reports import environment, load_average, publish, verdict
from spry.cluster.session import get_spark_context
from spry.common import WatermarkStrategy
from spry.common.accumulators import IntCounter
from spry.common.job_client import JobClient
from spry.common.sink import WriterContext
from spry.connectors.datagen import DataGeneratorSource
from spry.datastream import MapFunction, RuntimeContext
from spry.datastream.functions import SinkFunction

SLOTS = 2
KEYS = 1000
TARGET_MB = 400
HUGE = {"spry.epoch.target-duration": "1 h"}


def record(index: int) -> tuple[int, str]:
    """A key and a text that no other record has: about 200 bytes on the wire."""
    return index % KEYS, f"{index:0194d}"


class Size(MapFunction):
    """The size of a record's text."""

    def map(self, value: tuple[int, str]) -> int:
        return len(value[1])


class Sum(SinkFunction[int]):
    """Counts records and their bytes."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.records, self.bytes = IntCounter(), IntCounter()
        runtime_context.add_accumulator("records", self.records)
        runtime_context.add_accumulator("bytes", self.bytes)

    def invoke(self, value: int, context: WriterContext) -> None:
        self.records.add(1)
        self.bytes.add(value)


def watch(client: JobClient, jvm: int) -> dict[int, float]:
    """The slots' peaks, by process: what they are before the processes end."""
    peaks: dict[int, float] = {}
    ended = threading.Event()
    result = client.get_job_execution_result()
    while not result.done():
        for pid in slot_pids(jvm):
            peaks[pid] = max(peaks.get(pid, 0.0), peak_rss(pid))
        ended.wait(0.2)
    return peaks


def run_once(records: int, options: dict[str, str]) -> dict[str, Any]:
    env = environment(SLOTS, options)
    context, _ = get_spark_context(env.get_configuration())
    try:
        source = DataGeneratorSource(record, records)
        (
            env.from_source(source, WatermarkStrategy.no_watermarks(), "records")
            .key_by(lambda value: value[0])
            .map(Size())
            .add_sink(Sum())
        )
        client = env.execute_async("shuffle-memory")
        peaks = watch(client, int(context._jvm.java.lang.ProcessHandle.current().pid()))
        result = client.get_job_execution_result().result()
        metrics = client.get_metrics()
        if result.get_accumulator_result("records") != records:
            raise RuntimeError(f"{records:,} records went in, {result.get_accumulator_result('records'):,} came out")
        return {
            "records": records,
            "seconds": result.get_net_runtime() / 1000,
            "epochs": metrics["job.epochs"],
            "longest": metrics["job.epochSeconds.max"],
            "peaks": sorted(peaks.values(), reverse=True)[:SLOTS],
        }
    finally:
        context.stop()


def main() -> None:
    options = parse(__doc__, records=10_000_000, huge=-1)
    if options.huge >= 0:
        print(json.dumps(run_once(options.records, HUGE if options.huge else {})), flush=True)
        return
    load = load_average()
    rows, rates, figures = [], {}, {}
    for huge, name in enumerate(("default epochs", "huge epochs")):
        command = [sys.executable, "-m", "bench.workloads.shuffle_memory.run"]
        command += ["--records", str(options.records), "--huge", str(huge)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        run = json.loads(done.stdout.splitlines()[-1])
        peak = max(run["peaks"])
        rates[name] = round(run["records"] / run["seconds"], 1)
        figures[f"{name}: peak MB"] = peak
        figures[f"{name}: longest epoch, s"] = round(run["longest"], 2)
        rows.append(
            [
                name,
                f"{rates[name]:,.0f}",
                f"{run['epochs']:,}",
                f"{run['longest']:.1f}",
                ", ".join(f"{each:,.0f}" for each in run["peaks"]),
                str(TARGET_MB),
                verdict(peak, TARGET_MB),
            ]
        )
    publish(
        columns=["", "records/s", "epochs", "longest s", "slots' peaks, MB", "target", ""],
        rows=rows,
        rates=rates,
        figures=figures,
        load_before=load,
        notes=[
            f"{options.records:,} records of 200 bytes, {KEYS:,} keys, {SLOTS} slots; half cross to the other slot",
            "peaks: the most resident memory that a slot's process ever had",
        ],
    )


if __name__ == "__main__":
    main()
