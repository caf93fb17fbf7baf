"""Sessions by the clock: a pause longer than the gap ends one."""

import time

from pyflink.common import Time
from pyflink.datastream import WindowFunction
from pyflink.datastream.window import ProcessingTimeSessionWindows

SLOWLY = True
ORDERED = True


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{list(inputs)}"


def wait(record):
    time.sleep(2 if record == "pause" else 0.05)
    return record


def define(env):
    records = env.from_collection(["a", "b", "pause", "c", "d", "e", "pause"])
    return (
        records.map(wait)
        .start_new_chain()
        .set_parallelism(1)
        .key_by(lambda _: 0)
        .window(ProcessingTimeSessionWindows.with_gap(Time.milliseconds(800)))
        .apply(Show())
    )
