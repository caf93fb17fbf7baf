"""A side output that nobody reads is dropped.

PyFlink passes (tag, value) on as a record of the main output if no side output is read.
"""

from pyflink.common import Types
from pyflink.datastream import OutputTag, ProcessFunction

ORDERED = True
RULES = ["1", "2"]
UNREAD = OutputTag("unread", Types.INT())


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        if value > 2:
            yield UNREAD, value
        else:
            yield value


def define(env):
    return env.from_collection([1, 5, 2, 7]).process(Split())
