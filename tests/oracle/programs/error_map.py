"""An exception in a map function ends the job; its message is told."""

FAILS = "division by zero"


def define(env):
    return env.from_collection([1, 0]).map(lambda n: 1 / n)
