"""Batch mode: a union, then a reduce over both."""

from pyflink.datastream import RuntimeExecutionMode


def define(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    first = env.from_collection([("a", 1), ("b", 2)])
    second = env.from_collection([("a", 10), ("c", 20)]).map(lambda p: (p[0], p[1] * 2))
    return first.union(second).key_by(lambda p: p[0]).sum(1)
