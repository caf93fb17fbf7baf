"""Batch mode: sum, min, max, min_by and max_by give one result per key."""

from pyflink.datastream import RuntimeExecutionMode


def define(env):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    records = [("a", 3, "p"), ("b", 4, "q"), ("a", 1, "r"), ("a", 5, "s"), ("b", 2, "t")]
    keyed = env.from_collection(records).key_by(lambda r: r[0])
    results = [
        keyed.sum(1).map(lambda r: ("sum", *r)),
        keyed.min(1).map(lambda r: ("min", *r)),
        keyed.max(1).map(lambda r: ("max", *r)),
        keyed.min_by(1).map(lambda r: ("min_by", *r)),
        keyed.max_by(1).map(lambda r: ("max_by", *r)),
    ]
    return results[0].union(*results[1:])
