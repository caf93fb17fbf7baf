"""Timers need a keyed stream."""

from pyflink.datastream import ProcessFunction

FAILS = "keyed"


class Remind(ProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(1)
        yield value


def define(env):
    return env.from_collection([1, 2]).process(Remind())
