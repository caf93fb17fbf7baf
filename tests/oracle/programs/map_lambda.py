"""A plain function over each record; results come in the order of the records."""

ORDERED = True


def define(env):
    return env.from_collection([3, 1, 2]).map(lambda n: n * 10)
