"""Keyed count on rocksdb beside hashmap, in turns; then what incremental checkpoints write when little changes."""

import statistics
import time
from collections.abc import Iterator

from bench.program import parse
from bench.reports import Discard, environment, load_average, publish
from bench.workloads.checkpoints.jobs import Keep, count, directory
from spry.common.job_client import JobClient
from spry.datastream import KeyedProcessFunction

RECORDS = {1_000: 10_000_000, 1_000_000: 10_000_000}
TARGET = 0.25
KEYS = 1_000_000
HOT = 10_000
BYTES = 64
CHECKPOINTS, LAST = 20, 8
"""By the last of them, all keys have been there for long."""


class KeepAnew(Keep):
    """Keeps other bytes with every record."""

    def process_element(self, value: tuple[int, int], ctx: KeyedProcessFunction.Context) -> Iterator[int]:
        self.kept.update(value[1].to_bytes(8, "little") * (self.size // 8))
        yield value[0]


def main() -> None:
    options = parse(__doc__, records=0, runs=3)
    load = load_average()
    rows, figures = [], {}
    for keys, records in RECORDS.items():
        heap, rocks = [], []
        for _ in range(options.runs):
            heap.append(count(records, keys, 2, {})[0])
            rocks.append(count(records, keys, 2, {"state.backend.type": "rocksdb"})[0])
        one, other = statistics.median(heap), statistics.median(rocks)
        ratio = one / other
        figures[f"{keys:,} keys: of hashmap"] = round(ratio, 3)
        rows.append(
            [
                f"keyed count, {keys:,} keys",
                f"hashmap {records / one / 1e6:.2f} M/s",
                f"rocksdb {records / other / 1e6:.2f} M/s",
                f"{ratio:.2f} x",
                f"{TARGET} x",
                "met" if ratio >= TARGET else "MISSED",
            ]
        )
    written = _incremental()
    full, changed = written[0], statistics.median(written[1:])
    figures["incremental: bytes of the state"] = full
    figures["incremental: bytes written"] = changed
    rows.append(
        [
            f"incremental checkpoints, {KEYS:,} keys of {BYTES} bytes",
            f"state {full / 1e6:.1f} MB",
            f"{HOT:,} keys changing: {changed / 1e6:.2f} MB each",
            f"{changed / full:.3f} x",
            "follows what changed",
            "met" if changed < 0.2 * full else "MISSED",
        ]
    )
    publish(columns=["", "", "", "ratio", "target", ""], rows=rows, figures=figures, load_before=load)


def _incremental() -> list[int]:
    """The bytes of the state, then those that the last checkpoints have written."""
    with directory() as place:
        env = environment(
            2,
            {
                "state.backend.type": "rocksdb",
                "execution.checkpointing.incremental": "true",
                "execution.checkpointing.interval": "2 s",
                "execution.checkpointing.dir": place,
                "spry.epoch.max-records": "50000",
            },
        )
        (
            env.from_sequence(0, 1 << 40)
            .map(lambda i: (i // 2 if i < 2 * KEYS else i % HOT, i))
            .key_by(lambda record: record[0])
            .process(KeepAnew(BYTES))
            .add_sink(Discard())
        )
        client = env.execute_async("incremental")
        # Both halves of the sequence are read at once: what comes first has every key, what follows only a few.
        seen: dict[int, tuple[int, int]] = {}
        while len(seen) < CHECKPOINTS:
            _note(client, seen)
            time.sleep(0.1)
        client.cancel().result()
    return [max(size for size, _ in seen.values()), *(written for _, written in list(seen.values())[-LAST:])]


def _note(client: JobClient, seen: dict[int, tuple[int, int]]) -> None:
    metrics = client.get_metrics()
    number = metrics.get("job.checkpoints.last.id")
    if number is not None:
        seen[number] = (metrics["job.checkpoints.last.bytes"], metrics["job.checkpoints.last.bytesWritten"])


if __name__ == "__main__":
    main()
