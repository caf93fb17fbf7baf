"""Without event time an element has no timestamp: it is None, as Flink's Java API has it.

PyFlink gives the smallest 64 bit number.
"""

from pyflink.datastream import ProcessFunction

RULES = ["1 None", "2 None"]


class Timestamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} {ctx.timestamp()}"


def define(env):
    return env.from_collection([1, 2]).process(Timestamp())
