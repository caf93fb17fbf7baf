"""Batch mode: count windows."""

from pyflink.datastream import RuntimeExecutionMode


def define(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    return (
        env.from_collection([("a", 1), ("b", 1), ("a", 2), ("a", 3), ("b", 2)])
        .key_by(lambda p: p[0])
        .count_window(2)
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
