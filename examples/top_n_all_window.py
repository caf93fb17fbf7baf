"""The most visited pages of the last ten seconds, every five seconds: all in one window.

`window_all` puts the clicks of the whole site into one window, whose function counts and sorts them. That is short, but
one subtask does all the work, and keeps all clicks of a window. top_n_keyed.py does the same in parallel.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from spry.common import Time, WatermarkStrategy
from spry.datastream import ProcessAllWindowFunction, StreamExecutionEnvironment
from spry.datastream.window import SlidingEventTimeWindows

N = 2
CLICKS = [("home", 1), ("cart", 2), ("home", 3), ("help", 4), ("cart", 6), ("home", 7), ("cart", 8), ("help", 9)]
CLICKS += [("help", 11), ("help", 12), ("cart", 14)]


class TopPages(ProcessAllWindowFunction):
    """Counts the pages of a window, and gives the first of them."""

    def process(
        self, context: ProcessAllWindowFunction.Context, elements: Iterable[tuple[str, int]]
    ) -> Iterator[tuple[int, list[tuple[str, int]]]]:
        counts = Counter(page for page, _ in elements)
        ranking = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        yield context.window().end // 1000, ranking[:N]


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda click, _: click[1] * 1000)
    clicks = env.from_collection(CLICKS).assign_timestamps_and_watermarks(strategy)
    windows = clicks.window_all(SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(5)))
    with windows.process(TopPages()).execute_and_collect("top pages") as results:
        for end, ranking in results:
            print(f"{end - 10:3} s to {end:2} s:", ", ".join(f"{page} {count}" for page, count in ranking))


if __name__ == "__main__":
    main()
