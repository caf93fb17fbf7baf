"""Two streams as one."""


def define(env):
    return env.from_collection([1, 2]).union(env.from_collection([3, 4])).map(lambda n: n + 1)
