"""A filter function object."""

from pyflink.datastream import FilterFunction

ORDERED = True


class Longer(FilterFunction):
    def __init__(self, than):
        self.than = than

    def filter(self, value):
        return len(value) > self.than


def define(env):
    return env.from_collection(["a", "bcd", "ef", "ghij"]).filter(Longer(2))
