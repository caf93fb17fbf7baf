"""An exception in a key selector."""

FAILS = "no such key here"


def key(value):
    raise KeyError("no such key here")


def define(env):
    return env.from_collection([5, -3]).key_by(key).reduce(lambda a, b: a + b)
