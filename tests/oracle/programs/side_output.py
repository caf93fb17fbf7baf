"""A process function emits to its main output and to a side output."""

from pyflink.common import Types
from pyflink.datastream import OutputTag, ProcessFunction

ODD = OutputTag("odd", Types.INT())


class Split(ProcessFunction):
    def process_element(self, value, ctx):
        if value % 2:
            yield ODD, value
        else:
            yield value


def define(env):
    even = env.from_collection(range(7), Types.INT()).process(Split(), Types.INT())
    return even.map(lambda n: f"even {n}").union(even.get_side_output(ODD).map(lambda n: f"odd {n}"))
