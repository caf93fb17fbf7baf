"""The sum so far of a field; the other fields are those of the key's first record."""


def define(env):
    records = [("a", 3, "p"), ("b", 1, "q"), ("a", 1, "r"), ("a", -1, "s"), ("b", 5, "t")]
    return env.from_collection(records).key_by(lambda r: r[0]).sum(1)
