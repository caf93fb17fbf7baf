"""A record becomes several: words of lines."""

ORDERED = True


def define(env):
    return env.from_collection(["to be", "or not", "to be"]).flat_map(lambda line: line.split())
