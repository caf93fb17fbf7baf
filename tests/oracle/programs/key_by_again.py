"""A keyed stream is keyed by something else: the first key has no effect any more."""


def define(env):
    return (
        env.from_collection([("a", 1), ("b", 1), ("a", 2)])
        .key_by(lambda pair: pair[0])
        .key_by(lambda pair: pair[1])
        .reduce(lambda a, b: (a[0] + b[0], a[1]))
    )
