"""Sums of floats and of negative numbers."""


def define(env):
    records = [("a", 0.5), ("a", 0.25), ("a", -2.0), ("b", 1e20), ("b", 1.0)]
    return env.from_collection(records).key_by(lambda r: r[0]).sum(1)
