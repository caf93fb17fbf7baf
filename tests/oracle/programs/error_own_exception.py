"""An exception class of the program's own."""

FAILS = "no sale of -3"


class Refused(Exception):
    pass


def check(n):
    if n < 0:
        raise Refused(f"no sale of {n}")
    return n


def define(env):
    return env.from_collection([5, -3]).map(check)
