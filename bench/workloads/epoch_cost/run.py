"""What an epoch costs that has next to nothing to do: one record per slot, read by a source with a backlog.

Beside it, in the same Spark application, empty jobs of the JVM's own: `count()` of one partition per slot (one
stage), and the same behind a `repartition` (two stages). They start no Python. Cases run in turns, so that the
machine's noise hits all alike. A figure is the median of the turns' medians.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bench.program import parse
from bench.reports import Discard, environment, load_average, publish, verdict
from spry.cluster.session import get_spark_context
from spry.common import Types, WatermarkStrategy
from spry.connectors.datagen import DataGeneratorSource
from spry.datastream import KeyedProcessFunction, RuntimeContext
from spry.datastream.state import ValueStateDescriptor

STATE_ENTRIES = 1_000_000
STATE_EPOCHS = 5
TARGETS = {(2, 1): 0.035, (2, 2): 0.060}
TARGET_PER_SLOT_AND_LEVEL = 0.010


class Remember(KeyedProcessFunction):
    """Keeps a state entry per key, and passes every record on."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Iterator[int]:
        self.last.update(value)
        yield value


class Expand:
    """Turns the first records of a subtask into many keys each, and leaves the others as they are."""

    def __init__(self, share: int, slots: int) -> None:
        self.share = share
        self.keys = STATE_ENTRIES // (slots * STATE_EPOCHS)

    def __call__(self, index: int) -> Iterator[int]:
        subtask, number = divmod(index, self.share)
        if number < STATE_EPOCHS:
            start = (subtask * STATE_EPOCHS + number) * self.keys
            yield from range(start, start + self.keys)
        else:
            yield index


@dataclass
class Case:
    """One row of the table."""

    name: str
    slots: int
    levels: int
    run: Callable[[int], tuple[float, float]]
    """Gives (median, mean) seconds per epoch or job, of so many."""
    target: float | None = None
    medians: list[float] = field(default_factory=list)
    means: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return statistics.median(self.medians)


def spry(slots: int, levels: int, with_state: bool = False) -> Callable[[int], tuple[float, float]]:
    def run(epochs: int) -> tuple[float, float]:
        share = epochs + (STATE_EPOCHS if with_state else 0)
        env = environment(slots, {"spry.epoch.max-records": "1"})
        source = DataGeneratorSource(lambda index: index, slots * share)
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "one per epoch")
        if with_state:
            stream = stream.flat_map(Expand(share, slots))
        if levels == 2:
            stream = stream.key_by(lambda value: value).process(Remember())
        stream.add_sink(Discard())
        client = env.execute_async(f"{levels} levels, {slots} slots")
        result = client.get_job_execution_result().result()
        metrics = client.get_metrics()
        if metrics["job.epochs"] < share:
            raise RuntimeError(f"{share} epochs were expected, there were {metrics['job.epochs']}")
        return metrics["job.epochSeconds.median"], result.get_net_runtime() / 1000 / metrics["job.epochs"]

    return run


def jvm(context: Any, slots: int, stages: int) -> Callable[[int], tuple[float, float]]:
    elements = context._jvm.java.util.ArrayList()
    for number in range(slots):
        elements.add(number)

    def run(jobs: int) -> tuple[float, float]:
        seconds = []
        for _ in range(jobs):
            started = time.perf_counter()
            rdd = context._jsc.parallelize(elements, slots)
            if stages == 2:
                rdd = rdd.repartition(slots)
            rdd.count()
            seconds.append(time.perf_counter() - started)
        return statistics.median(seconds), statistics.fmean(seconds)

    return run


def cases(context: Any) -> list[Case]:
    made = []
    for slots in (2, 16):
        for levels in (1, 2):
            target = TARGETS.get((slots, levels), TARGET_PER_SLOT_AND_LEVEL * slots * levels)
            made.append(Case("spry", slots, levels, spry(slots, levels), target))
            made.append(Case("jvm", slots, levels, jvm(context, slots, levels)))
    made.append(Case("spry, 1 M state entries", 2, 2, spry(2, 2, with_state=True), TARGETS[(2, 2)]))
    return made


def main() -> None:
    options = parse(__doc__, records=0, epochs=150, runs=3)
    load = load_average()
    context, _ = get_spark_context(environment(2).get_configuration())
    try:
        table = cases(context)
        for case in table:
            case.run(100 if case.slots == 2 else 20)  # the JVM compiles what it has run often enough
        for _ in range(options.runs):
            for case in table:
                median, mean = case.run(options.epochs if case.slots == 2 else max(10, options.epochs // 3))
                case.medians.append(median)
                case.means.append(mean)
    finally:
        context.stop()

    jvms = {(case.slots, case.levels): case.seconds for case in table if case.name == "jvm"}
    rows, figures, ratios = [], {}, {}
    for case in table:
        name = f"{case.name}, {case.slots} slots, {case.levels} level{'s' if case.levels > 1 else ''}"
        figures[f"{name}: ms"] = round(case.seconds * 1000, 2)
        beside = ""
        if case.name != "jvm":
            ratio = case.seconds / jvms[(case.slots, case.levels)]
            ratios[f"{name} / jvm"] = round(ratio, 3)
            beside = f"{ratio:.1f} x"
        rows.append(
            [
                name,
                f"{case.seconds * 1000:.1f}",
                f"{min(case.medians) * 1000:.1f}",
                f"{max(case.medians) * 1000:.1f}",
                f"{statistics.median(case.means) * 1000:.1f}",
                f"{case.seconds * 1000 / case.slots / case.levels:.1f}",
                beside,
                "" if case.target is None else f"{case.target * 1000:.0f}",
                "" if case.target is None else verdict(case.seconds, case.target),
            ]
        )
    publish(
        columns=["epoch", "ms", "least", "most", "wall", "per slot, level", "jvm", "target", ""],
        rows=rows,
        figures=figures,
        ratios=ratios,
        load_before=load,
        notes=[
            "ms: median of the turns' medians, least and most of them beside it, on a Spark with 2 cores",
            "wall: the time of the whole run by the number of epochs, so with what is between epochs",
            "jvm: an empty job of the JVM's own with as many partitions and stages (for it: 'level' is a stage)",
        ],
    )


if __name__ == "__main__":
    main()
