"""Some fields of tuples, in another order."""

from pyflink.common import Types

ORDERED = True


def define(env):
    kind = Types.TUPLE([Types.STRING(), Types.INT(), Types.DOUBLE()])
    return env.from_collection([("a", 1, 0.5), ("b", 2, 1.5)], kind).project(2, 0)
