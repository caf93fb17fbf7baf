"""Global windows that reduce and purge by count, with a process function that counts its firings."""

from pyflink.common import Types
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        firings = context.global_state().get_state(ValueStateDescriptor("firings", Types.INT()))
        firings.update((firings.value() or 0) + 1)
        yield f"{key} {list(elements)} {firings.value()}"


def define(env):
    return (
        env.from_collection(range(1, 14))
        .key_by(lambda n: n % 2)
        .window(GlobalWindows.create())
        .trigger(PurgingTrigger.of(CountTrigger.of(2)))
        .reduce(lambda a, b: a * 100 + b, Show(), Types.STRING())
    )
