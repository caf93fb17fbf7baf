"""A process function's life: open, elements, close. What it counts is not keyed."""

from pyflink.datastream import ProcessFunction

ORDERED = True


class Count(ProcessFunction):
    def open(self, runtime_context):
        self.count = 0

    def process_element(self, value, ctx):
        self.count += 1
        yield f"{value} {self.count}"


def define(env):
    return env.from_collection(["a", "b", "a"]).process(Count()).set_parallelism(1)
