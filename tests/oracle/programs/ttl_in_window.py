"""State of a key that windows share expires, too."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import ProcessWindowFunction
from pyflink.datastream.state import ListStateDescriptor, StateTtlConfig
from pyflink.datastream.window import CountTrigger, GlobalWindows, PurgingTrigger

SEEN = ListStateDescriptor("seen", Types.INT())
SEEN.enable_time_to_live(StateTtlConfig.new_builder(Time.seconds(2)).build())


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        elements = list(elements)
        seen = context.global_state().get_list_state(SEEN)
        seen.add(sum(elements))
        yield f"{elements} {list(seen.get())}"
        time.sleep(1.25)

    def clear(self, context):
        pass


def define(env):
    return (
        env.from_collection(range(10))
        .key_by(lambda _: 0)
        .window(GlobalWindows.create())
        .trigger(PurgingTrigger.of(CountTrigger.of(2)))
        .process(Show())
    )
