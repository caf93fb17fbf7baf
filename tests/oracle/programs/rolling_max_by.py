"""The whole record with the largest field so far; of equal ones the first."""


def define(env):
    records = [("a", 3, "p"), ("b", 4, "q"), ("a", 5, "r"), ("a", 5, "s"), ("b", 2, "t"), ("a", 2, "u")]
    return env.from_collection(records).key_by(lambda r: r[0]).max_by(1)
