"""Batch mode: a reduce gives one result per key."""

from pyflink.datastream import RuntimeExecutionMode


def define(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    return (
        env.from_collection([("a", 1), ("b", 2), ("a", 3), ("c", 4)])
        .key_by(lambda p: p[0])
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
