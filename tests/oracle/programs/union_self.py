"""A stream with itself: every record comes twice."""


def define(env):
    numbers = env.from_collection([1, 2, 3])
    return numbers.union(numbers)
