"""A map function with a life: what open() makes is there for each record."""

from pyflink.datastream import MapFunction

ORDERED = True


class Numbered(MapFunction):
    def open(self, runtime_context):
        self.count = 100

    def map(self, value):
        self.count += 1
        return f"{self.count}: {value}"


def define(env):
    return env.from_collection(["a", "b", "c"]).map(Numbered()).set_parallelism(1)
