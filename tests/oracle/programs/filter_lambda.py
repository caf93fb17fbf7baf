"""Records for which the function is true stay."""

ORDERED = True


def define(env):
    return env.from_collection(range(10)).filter(lambda n: n % 3 == 1)
