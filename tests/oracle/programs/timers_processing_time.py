"""Timers by the clock fire while the stream goes on."""

import time

from pyflink.datastream import KeyedProcessFunction, TimeDomain

SLOWLY = True


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        if value != "pause":
            timers = ctx.timer_service()
            timers.register_processing_time_timer(timers.current_processing_time() + 400)
        yield f"element {value}"

    def on_timer(self, timestamp, ctx):
        late = ctx.timer_service().current_processing_time() < timestamp
        yield f"timer {ctx.time_domain() == TimeDomain.PROCESSING_TIME} {late}"


def wait(record):
    time.sleep(2 if record == "pause" else 0.05)
    return record


def define(env):
    slow = env.from_collection(["a", "pause", "b", "pause", "c"]).map(wait).start_new_chain().set_parallelism(1)
    return slow.key_by(lambda _: 0).process(Remind())
