"""The most visited pages of the last ten seconds, every five seconds: in parallel, in two steps.

First each page has windows of its own, which keep a count and no clicks. Their results are (page, end of the window,
count). Then all results of one window come together, by its end. When the watermark has passed that end, none is
missing: a timer ranks them.
"""

from collections.abc import Iterable, Iterator

from spry.common import Time, Types, WatermarkStrategy
from spry.datastream import (
    AggregateFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from spry.datastream.state import ListStateDescriptor
from spry.datastream.window import SlidingEventTimeWindows

N = 2
CLICKS = [("home", 1), ("cart", 2), ("home", 3), ("help", 4), ("cart", 6), ("home", 7), ("cart", 8), ("help", 9)]
CLICKS += [("help", 11), ("help", 12), ("cart", 14)]

PageCount = tuple[str, int, int]


class Count(AggregateFunction):
    """Counts."""

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: tuple[str, int], accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class WithPageAndEnd(ProcessWindowFunction):
    """Says of which page and of which window a count is."""

    def process(self, key: str, context: ProcessWindowFunction.Context, elements: Iterable[int]) -> Iterator[PageCount]:
        [count] = elements
        yield key, context.window().end, count


class Rank(KeyedProcessFunction):
    """Collects the counts of one window, and ranks them when all are there."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.counts = runtime_context.get_list_state(ListStateDescriptor("counts", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, value: PageCount, ctx: KeyedProcessFunction.Context) -> None:
        page, end, count = value
        self.counts.add((page, count))
        ctx.timer_service().register_event_time_timer(end)  # Once per window, however often it is set.

    def on_timer(
        self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext
    ) -> Iterator[tuple[int, list[tuple[str, int]]]]:
        ranking = sorted(self.counts.get(), key=lambda item: (-item[1], item[0]))
        self.counts.clear()
        yield timestamp // 1000, ranking[:N]


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda click, _: click[1] * 1000)
    clicks = env.from_collection(CLICKS).assign_timestamps_and_watermarks(strategy)
    counts = (
        clicks.key_by(lambda click: click[0])
        .window(SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(5)))
        .aggregate(Count(), WithPageAndEnd())
    )
    with counts.key_by(lambda count: count[1]).process(Rank()).execute_and_collect("top pages") as results:
        for end, ranking in sorted(results):  # Windows are ranked by several subtasks.
            print(f"{end - 10:3} s to {end:2} s:", ", ".join(f"{page} {count}" for page, count in ranking))


if __name__ == "__main__":
    main()
