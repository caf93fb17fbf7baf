"""A process function yields none, one or several records per element."""

from pyflink.datastream import ProcessFunction

ORDERED = True


class Count(ProcessFunction):
    def process_element(self, value, ctx):
        for n in range(value):
            yield f"{value}.{n}"


def define(env):
    return env.from_collection([2, 0, 1]).process(Count())
