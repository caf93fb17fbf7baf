"""A reduce function object: each record gives the reduction so far; the first is given as it is."""

from pyflink.datastream import ReduceFunction


class Longest(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 if len(value1) >= len(value2) else value2


def define(env):
    return env.from_collection(["a", "ccc", "bb", "ddd", "eeee"]).key_by(lambda _: 0).reduce(Longest())
