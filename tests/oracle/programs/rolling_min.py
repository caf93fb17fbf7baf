"""The minimum so far of a field; the other fields stay those of the first record."""


def define(env):
    records = [("a", 3, "p"), ("b", 4, "q"), ("a", 1, "r"), ("a", 2, "s"), ("b", 2, "t"), ("a", 1, "u")]
    return env.from_collection(records).key_by(lambda r: r[0]).min(1)
