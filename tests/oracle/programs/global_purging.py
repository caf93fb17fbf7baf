"""Global windows that forget their elements when they fire."""

from pyflink.datastream import WindowFunction
from pyflink.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} {list(inputs)}"


def define(env):
    return (
        env.from_collection(range(1, 14))
        .key_by(lambda n: n % 2)
        .window(GlobalWindows.create())
        .trigger(PurgingTrigger.of(CountTrigger.of(3)))
        .apply(Show())
    )
