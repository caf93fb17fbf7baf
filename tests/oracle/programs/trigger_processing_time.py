"""A processing-time trigger by its own name: windows whose end does not come give nothing."""

from pyflink.common import Time
from pyflink.datastream.window import ProcessingTimeTrigger, SlidingProcessingTimeWindows


def define(env):
    numbers = env.from_collection([1, 2, 3])
    windows = SlidingProcessingTimeWindows.of(Time.days(30000), Time.days(30000))
    reduced = numbers.key_by(lambda _: 0).window(windows).trigger(ProcessingTimeTrigger.create())
    return reduced.reduce(lambda a, b: a + b).union(numbers)
