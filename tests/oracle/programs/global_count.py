"""Global windows that fire at every third element and keep all of them."""

from pyflink.datastream import WindowFunction
from pyflink.datastream.window import CountTrigger, GlobalWindows


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} {list(inputs)}"


def define(env):
    return (
        env.from_collection(range(1, 14))
        .key_by(lambda n: n % 2)
        .window(GlobalWindows.create())
        .trigger(CountTrigger.of(3))
        .apply(Show())
    )
