"""Runs a keyed job of two levels through thousands of short epochs and looks at what it holds, again and again.

What must stay flat: Spark's files, the JVM's heap after a garbage collection, the memory of the slots and of the
driver, threads, open files, and the objects that the driver keeps alive inside the JVM. (Linux only.)
"""

import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.processes import disk_usage, open_files, rss, slot_pids, threads
from bench.program import parse
from bench.reports import Discard, environment, load_average, publish
from spry.cluster.session import get_spark_context
from spry.common import Types, WatermarkStrategy
from spry.common.job_client import JobClient
from spry.common.source import SourceReaderContext
from spry.connectors.datagen import DataGeneratorSource, GeneratorFunction
from spry.datastream import KeyedProcessFunction, RuntimeContext
from spry.datastream.state import ValueStateDescriptor

SLOTS = 2
PACE = 0.05
"""Seconds from one epoch to the next. A steady pace makes the first samples comparable with the last: the quicker the
epochs, the more of the past tasks' threads has Spark at any time."""
SAMPLES = 10
SETTLED = 3
"""From this sample on, what Spark keeps of past jobs has reached its bounds."""
HOARDED = 0.25
"""Objects of one class per epoch that count as hoarded; but not fewer than a thousand, which come and go."""
NOISE = 1000

Counts = dict[str, int]

COLUMNS = {
    "epoch": "epoch",
    "ms": "ms/epoch",
    "files": "files",
    "disk_mb": "disk MB",
    "heap_mb": "heap MB",
    "jvm_rss_mb": "JVM RSS",
    "slots_rss_mb": "slots RSS",
    "driver_rss_mb": "driver RSS",
    "jvm_threads": "threads",
    "driver_threads": "driver threads",
    "jvm_open": "JVM open",
    "slots_open": "slots open",
    "driver_open": "driver open",
    "py4j": "py4j objects",
    "rdds": "cached RDDs",
    "exit_files": "exit files",
}
ALLOWED = {
    # What may grow: by so much, or by this part of what it was.
    "files": (4, 0.0),
    "disk_mb": (1.0, 0.0),
    "heap_mb": (4.0, 0.05),
    "jvm_rss_mb": (80.0, 0.15),
    "slots_rss_mb": (8.0, 0.05),
    "driver_rss_mb": (4.0, 0.05),
    # Spark watches every task of Python with a thread that looks every two seconds whether the task is over: some
    # hundreds of them at this pace.
    "jvm_threads": (40, 0.1),
    "driver_threads": (2, 0.0),
    "jvm_open": (6, 0.0),
    "slots_open": (2, 0.0),
    "driver_open": (3, 0.0),
    "py4j": (200, 0.0),
    "exit_files": (100, 0.0),
}


class Tick(GeneratorFunction[int]):
    """A record whenever the next epoch is due."""

    def open(self, reader_context: SourceReaderContext) -> None:
        self.due = time.monotonic()

    def map(self, value: int) -> int:
        now = time.monotonic()
        time.sleep(max(0.0, self.due - now))
        self.due = max(self.due, now) + PACE
        return value


class Count(KeyedProcessFunction):
    """Counts per key: a state that is soon as large as it gets."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Iterator[tuple[int, int]]:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield ctx.get_current_key(), count


class Probe:
    """Looks at the driver, the JVM and the slots."""

    def __init__(self, context: Any, local_directory: str) -> None:
        self._context = context
        self._directory = local_directory
        self._runtime = context._jvm.java.lang.Runtime.getRuntime()
        self.jvm = int(context._jvm.java.lang.ProcessHandle.current().pid())
        self._last = (time.monotonic(), 0)

    def sample(self, epoch: int) -> dict[str, float]:
        at, before = self._last
        now = time.monotonic()
        pace = (now - at) * 1000 / max(1, epoch - before)
        files, size = disk_usage(self._directory)
        workers = slot_pids(self.jvm)
        driver = Path("/proc/self").resolve().name
        taken: dict[str, float] = {
            "epoch": epoch,
            "ms": round(pace, 1),
            "files": files,
            "disk_mb": round(size / 1e6, 2),
            "heap_mb": self._heap(),
            "jvm_rss_mb": rss(self.jvm),
            "slots_rss_mb": max((rss(pid) for pid in workers), default=0.0),
            "driver_rss_mb": rss(int(driver)),
            "jvm_threads": threads(self.jvm),
            "driver_threads": threads(int(driver)),
            "jvm_open": open_files(self.jvm),
            "slots_open": max((open_files(pid) for pid in workers), default=0),
            "driver_open": open_files(int(driver)),
            "py4j": self._objects(),
            "rdds": self._context._jsc.getPersistentRDDs().size(),
            "exit_files": self._exit_files(),
        }
        self._last = (time.monotonic(), epoch)
        return taken

    def _heap(self) -> float:
        """Used after a collection, in MB; the least of three, as the job goes on meanwhile."""
        used = []
        for _ in range(3):
            self._context._jvm.java.lang.System.gc()
            used.append(self._runtime.totalMemory() - self._runtime.freeMemory())
        return round(float(min(used)) / 1e6, 1)

    def _exit_files(self) -> int:
        """The paths that the JVM will delete when it ends, and keeps until then; -1 if it does not let us look."""
        try:
            field = self._context._jvm.java.lang.Class.forName("java.io.DeleteOnExitHook").getDeclaredField("files")
            field.setAccessible(True)
            return int(field.get(None).size())
        except Exception:
            return -1

    def thread_names(self) -> dict[str, int]:
        """The JVM's threads by name, numbers left out."""
        found = self._context._jvm.java.lang.Thread.getAllStackTraces().keySet().toArray()
        names = Counter(re.sub(r"[0-9]+", "N", thread.getName())[:60] for thread in found)
        return dict(names.most_common(20))

    def instances(self) -> dict[str, int]:
        """How many live objects of each class the JVM has, of those that it has many of."""
        jvm, array = self._context._jvm, self._context._gateway.new_array
        signature, arguments = array(jvm.java.lang.String, 1), array(jvm.java.lang.Object, 1)
        signature[0] = "[Ljava.lang.String;"
        arguments[0] = array(jvm.java.lang.String, 0)
        call = array(jvm.java.lang.Object, 4)
        call[0] = jvm.javax.management.ObjectName("com.sun.management:type=DiagnosticCommand")
        call[1], call[2], call[3] = "gcClassHistogram", arguments, signature
        # The server's own class is not public: its method has to be called through the interface.
        interface = jvm.java.lang.Class.forName("javax.management.MBeanServerConnection")
        method = next(each for each in interface.getMethods() if each.getName() == "invoke")
        text = str(method.invoke(jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer(), call))
        found = re.finditer(r"^\s*\d+:\s+(\d+)\s+\d+\s+(\S+)", text, re.MULTILINE)
        # What is kept of each look counts as the driver's own memory, so only what matters is.
        return {match[2]: int(match[1]) for match in found if int(match[1]) > NOISE}

    def _objects(self) -> int:
        """Objects of the JVM that the driver's Python holds on to."""
        server = self._context._gateway.java_gateway_server
        return int(server.getGateway().getBindings().size())


def grown(samples: list[dict[str, float]]) -> list[str]:
    """What grew by more than it may, in words: the least of the last samples beside the most of the first.

    Garbage comes and goes between two samples, so that single ones say little.
    """
    found = []
    part = max(1, len(samples) // 3)
    for name, (amount, share) in ALLOWED.items():
        before = max(sample[name] for sample in samples[:part])
        after = min(sample[name] for sample in samples[-part:])
        if after - before > max(amount, share * before):
            found.append(f"{COLUMNS[name]}: at most {before:,} at first, at least {after:,} towards the end")
    return found


def hoarded(looks: list[Counts], epochs: float) -> dict[str, int]:
    """The classes of which every few epochs leave an object behind, with how many more there are.

    As above: what is on its way to be forgotten comes and goes.
    """
    part = max(1, len(looks) // 3)
    more = {
        name: min(look.get(name, 0) for look in looks[-part:]) - max(look.get(name, 0) for look in looks[:part])
        for name in looks[-1]
    }
    return {
        name: count
        for name, count in sorted(more.items(), key=lambda item: -item[1])
        if count > max(NOISE, epochs * HOARDED)
    }


def watch(client: JobClient, probe: Probe, epochs: int) -> tuple[list[dict[str, float]], list[tuple[Counts, Counts]]]:
    """Take samples, the last just before the end; once things have settled, with the JVM's threads and objects."""
    samples: list[dict[str, float]] = []
    looks: list[tuple[Counts, Counts]] = []
    due = [epochs * number // SAMPLES for number in range(1, SAMPLES)] + [epochs - 5]
    result = client.get_job_execution_result()
    while due and not result.done():
        epoch = client.get_metrics()["job.epochs"]
        if epoch >= due[0]:
            due = [each for each in due if each > epoch]
            samples.append(probe.sample(epoch))
            if len(samples) >= SETTLED or not due:
                looks.append((probe.thread_names(), probe.instances()))
            print(samples[-1], file=sys.stderr, flush=True)
        else:
            time.sleep(0.02)
    result.result()
    return samples, looks


def main() -> None:
    options = parse(__doc__, records=0, epochs=5000)
    load = load_average()
    with tempfile.TemporaryDirectory(prefix="spry-soak-") as directory:
        options_of_spark = {"spark.local.dir": directory, "spark.python.unix.domain.socket.dir": directory}
        env = environment(SLOTS, {"spry.epoch.max-records": "1", **options_of_spark})
        context, _ = get_spark_context(env.get_configuration())
        try:
            probe = Probe(context, directory)
            source = DataGeneratorSource(Tick(), SLOTS * options.epochs)
            (
                env.from_source(source, WatermarkStrategy.no_watermarks(), "one per epoch")
                .key_by(lambda value: value % 100)
                .process(Count())
                .add_sink(Discard())
            )
            samples, looks = watch(env.execute_async("soak"), probe, options.epochs)
        finally:
            context.stop()
    threads_before, threads_after = looks[0][0], looks[-1][0]
    settled = samples[min(SETTLED, len(samples)) - 1]["epoch"]
    left = hoarded([objects for _, objects in looks], samples[-1]["epoch"] - settled)
    growth = [*grown(samples), *(f"objects of {name}: {count:,} more" for name, count in list(left.items())[:10])]
    publish(
        columns=list(COLUMNS.values()),
        rows=[[f"{sample[name]:,}" for name in COLUMNS] for sample in samples],
        figures={"grown": len(growth), **{f"{name} at the end": samples[-1][name] for name in ALLOWED}},
        details={"samples": samples, "growth": growth, "threads": [threads_before, threads_after]},
        load_before=load,
        notes=[
            *(f"GROWN: {text}" for text in growth),
            *([] if growth else ["nothing grew between the first samples and the last"]),
            "heap: after a garbage collection; RSS in MB; of the slots the largest; "
            "py4j objects: those of the JVM that the driver's Python holds; "
            "exit files: paths that the JVM keeps in mind to delete at its end",
        ],
    )


if __name__ == "__main__":
    main()
