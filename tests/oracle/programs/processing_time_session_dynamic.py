"""Sessions by the clock whose elements say the gap: a short one ends its session where a long one goes on."""

import time

from pyflink.datastream import WindowFunction
from pyflink.datastream.window import ProcessingTimeSessionWindows, SessionWindowTimeGapExtractor

SLOWLY = True
ORDERED = True


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[1]


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{[name for name, _ in inputs]}"


def wait(record):
    time.sleep(1.5)
    return record


def define(env):
    records = env.from_collection([("a", 4000), ("b", 500), ("c", 500), ("d", 500), ("e", 500), ("f", 500)])
    return (
        records.map(wait)
        .start_new_chain()
        .set_parallelism(1)
        .key_by(lambda _: 0)
        .window(ProcessingTimeSessionWindows.with_dynamic_gap(Gap()))
        .apply(Show())
        .filter(lambda text: "f" not in text)
    )
