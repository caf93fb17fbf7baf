"""A flat map function that yields none, one or more."""

from pyflink.datastream import FlatMapFunction

ORDERED = True


class Repeat(FlatMapFunction):
    def flat_map(self, value):
        for _ in range(value):
            yield value


def define(env):
    return env.from_collection([0, 1, 3, 2, 0]).flat_map(Repeat())
