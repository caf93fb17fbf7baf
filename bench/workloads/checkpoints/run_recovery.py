"""How soon a job is back: after one of its slots was killed, and when it starts from a savepoint of 1 GB."""

import os
import signal
import statistics
import threading
import time
from itertools import pairwise

from bench.processes import slot_pids
from bench.program import parse
from bench.reports import Discard, environment, load_average, publish, verdict
from bench.workloads.checkpoints.jobs import Count, Keep, directory
from spry.cluster.session import get_spark_context
from spry.common import Configuration

TARGET_SECONDS = 5.0
KEYS = 1_000_000
BYTES = 1024


def main() -> None:
    options = parse(__doc__, records=0, runs=3)
    load = load_average()
    context, _ = get_spark_context(Configuration.from_dict({"spark.master": "local[2]", "spry.progress": "none"}))
    jvm = context._gateway.proc.pid
    killed = [_kill_a_slot(jvm) for _ in range(options.runs)]
    middle = statistics.median(killed)
    size, saved, restored = _restore()
    publish(
        columns=["", "seconds", "target", ""],
        rows=[
            [
                "from a killed slot to the first new result",
                f"{middle:.2f} (from {min(killed):.2f} to {max(killed):.2f})",
                f"{TARGET_SECONDS:.0f}",
                verdict(middle, TARGET_SECONDS),
            ],
            [f"savepoint of {size / 1e9:.2f} GB, from the request to its path", f"{saved:.1f}", "", ""],
            ["from the start of a job from it to its first result", f"{restored:.1f}", "", ""],
        ],
        figures={
            "killed slot, seconds": round(middle, 3),
            "restore, seconds": round(restored, 2),
            "restore, GB": round(size / 1e9, 3),
        },
        load_before=load,
        notes=[
            "the restart strategy is the default one: it waits for 1 s before the first restart",
            "hashmap, canonical savepoint, 2 slots, a local disk",
        ],
    )


def _kill_a_slot(jvm: int) -> float:
    """Seconds from the kill to the first result of the restarted job."""
    with directory() as place:
        env = environment(
            2,
            {
                "execution.checkpointing.interval": "1 s",
                "execution.checkpointing.mode": "at_least_once",
                "execution.checkpointing.dir": place,
                "spry.epoch.max-records": "20000",
            },
        )
        stream = (
            env.from_sequence(0, 1 << 40)
            .map(lambda i: (i % 1000, i))
            .key_by(lambda record: record[0])
            .process(Count())
            .filter(lambda record: record[0] % 50 == 0)
        )
        results = stream.execute_and_collect("killed")
        times: list[float] = []
        stop = threading.Event()

        def read() -> None:
            for _ in results:
                times.append(time.perf_counter())
                if stop.is_set():
                    return

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        time.sleep(5)
        pid = slot_pids(jvm)[-1]
        killed = time.perf_counter()
        os.kill(pid, signal.SIGKILL)
        # What was read before the job had noticed is not new: results pause while it restarts.
        longest, back = 0.0, 0.0
        deadline = time.perf_counter() + 60
        while time.perf_counter() < deadline and (longest < 0.8 or time.perf_counter() - back < 1):
            time.sleep(0.1)
            after = [moment for moment in [*times] if moment > killed - 0.5]
            for one, other in pairwise(after):
                if other - one > longest:
                    longest, back = other - one, other
        stop.set()
        results.close()
        return back - killed


def _restore() -> tuple[int, float, float]:
    """The size of the state, the seconds to save it, and those from a job's start to its first result."""
    with directory() as place:
        env = environment(2)
        (
            env.from_sequence(0, 1 << 40)
            .map(lambda i: (i % KEYS, i))
            .key_by(lambda record: record[0])
            .process(Keep(BYTES))
            .uid("keep")
            .filter(lambda key: key < 0)
            .add_sink(Discard())
        )
        client = env.execute_async("large")
        while (
            sum(
                int(v)
                for k, v in client.get_metrics().items()
                if k.startswith("KeyedProcess") and k.endswith("RecordsIn")
            )
            < 3 * KEYS
        ):
            time.sleep(0.2)
        started = time.perf_counter()
        path = client.stop_with_savepoint(False, place).result()
        saved = time.perf_counter() - started
        size: int = client.get_metrics()["job.checkpoints.last.bytes"]
        env = environment(
            2, {"execution.state-recovery.path": path, "execution.state-recovery.ignore-unclaimed-state": "true"}
        )
        stream = (
            env.from_sequence(0, 1 << 40)
            .map(lambda i: (i % KEYS, i))
            .key_by(lambda record: record[0])
            .process(Keep(BYTES))
            .uid("keep")
        )
        started = time.perf_counter()
        results = stream.execute_and_collect("restored")
        next(iter(results))
        restored = time.perf_counter() - started
        results.close()
        return size, saved, restored


if __name__ == "__main__":
    main()
