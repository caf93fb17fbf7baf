"""A slot with ten million small entries on its heap takes snapshots while it counts on.

The stall is how long the slot stands still, as it reports it itself. The epochs beside the writing are compared with
those before, as the operating system copies every page that is written to meanwhile.
"""

import threading
import time
from functools import partial

from bench.program import parse
from bench.reports import Discard, environment, load_average, publish, verdict
from bench.workloads.checkpoints.jobs import Count, directory

TARGET_MILLIS = 300.0


def main() -> None:
    options = parse(__doc__, records=10_000_000)
    load = load_average()
    keys = options.records
    with directory() as place:
        env = environment(1, {"spry.epoch.target-duration": "500 ms"})
        (
            env.from_sequence(0, 100 * keys)
            .map(lambda i: (i % keys, i))
            .key_by(lambda record: record[0])
            .process(Count())
            .filter(lambda record: record[1] < 0)
            .add_sink(Discard())
        )
        client = env.execute_async("stall")
        while _records(client.get_metrics()) < keys * 1.2:
            time.sleep(0.2)
            if client.get_job_status().result().is_terminal_state():
                client.get_job_execution_result().result()
        rows, stalls, durations = [], [], []
        for number in range(3):
            before = _rate(client, 2.0)
            during: list[float] = []
            done = threading.Event()
            saved = client.trigger_savepoint(place)
            saved.add_done_callback(partial(_set, done))
            while not done.is_set():
                during.append(_rate(client, 0.5))
            saved.result()
            metrics = client.get_metrics()
            stall, seconds = metrics["job.checkpoints.last.stallSeconds"], metrics["job.checkpoints.last.seconds"]
            stalls.append(stall * 1000)
            durations.append(seconds)
            rate = sum(during) / max(len(during), 1)
            rows.append(
                [
                    f"{number + 1}",
                    f"{metrics['job.checkpoints.last.bytes'] / 1e6:.0f} MB",
                    f"{stall * 1000:.0f} ms",
                    f"{TARGET_MILLIS:.0f} ms",
                    verdict(stall * 1000, TARGET_MILLIS),
                    f"{seconds:.1f} s",
                    f"{before / 1e6:.2f} M/s",
                    f"{rate / 1e6:.2f} M/s",
                ]
            )
        client.cancel().result()
    publish(
        columns=["snapshot", "size", "stall", "target", "", "until it is complete", "rate before", "rate meanwhile"],
        rows=rows,
        figures={"stall, ms": round(max(stalls), 1), "seconds to write": round(max(durations), 2)},
        load_before=load,
        notes=[f"{keys:,} entries, int -> int, in one slot, hashmap; written by a process of its own beside the job"],
    )


def _records(metrics: dict[str, object]) -> int:
    return sum(int(str(v)) for k, v in metrics.items() if k.endswith("numRecordsIn") and k.startswith("KeyedProcess"))


def _set(done: threading.Event, _: object) -> None:
    done.set()


def _rate(client: object, seconds: float) -> float:
    metrics = client.get_metrics  # type: ignore[attr-defined]
    before, started = _records(metrics()), time.perf_counter()
    time.sleep(seconds)
    return (_records(metrics()) - before) / (time.perf_counter() - started)


if __name__ == "__main__":
    main()
