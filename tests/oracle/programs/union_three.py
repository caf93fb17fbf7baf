"""Three streams, which are then keyed together."""


def define(env):
    first, second, third = (env.from_collection([("k", n)]) for n in (1, 10, 100))
    return first.union(second, third).key_by(lambda pair: pair[0]).sum(1).filter(lambda pair: pair[1] == 111)
