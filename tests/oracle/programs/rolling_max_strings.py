"""Maximum and minimum of strings."""


def define(env):
    words = env.from_collection([(0, "m"), (0, "z"), (0, "a"), (1, "b")]).key_by(lambda r: r[0])
    return words.max(1).map(lambda r: ("max", *r)).union(words.min(1).map(lambda r: ("min", *r)))
