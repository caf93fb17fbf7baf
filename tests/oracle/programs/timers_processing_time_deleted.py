"""Timers by the clock that are deleted do not fire, nor do those that are not due when the input ends."""

import time

from pyflink.datastream import KeyedProcessFunction

SLOWLY = True


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        due = timers.current_processing_time() + 400
        if value != "pause":
            timers.register_processing_time_timer(due)
            timers.register_processing_time_timer(due + 1_000_000)
        if value == "deleted":
            timers.delete_processing_time_timer(due)
        yield f"element {value}"

    def on_timer(self, timestamp, ctx):
        yield "timer"


def wait(record):
    time.sleep(2 if record == "pause" else 0.05)
    return record


def define(env):
    slow = env.from_collection(["deleted", "pause", "b", "pause", "c"]).map(wait).start_new_chain().set_parallelism(1)
    return slow.key_by(lambda _: 0).process(Remind())
