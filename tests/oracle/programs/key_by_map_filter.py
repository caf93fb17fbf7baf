"""On a keyed stream, map and filter see each record; the result is not keyed."""


def define(env):
    keyed = env.from_collection([("a", 1), ("b", 2), ("a", 3)]).key_by(lambda pair: pair[0])
    return (
        keyed.map(lambda pair: (pair[0], pair[1] * 10)).key_by(lambda pair: pair[0]).filter(lambda pair: pair[1] > 10)
    )
