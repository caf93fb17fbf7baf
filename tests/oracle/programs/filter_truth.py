"""What a filter gives need not be a bool: what Python takes as true stays."""


def define(env):
    return env.from_collection([1, 0, 2]).map(lambda n: "x" * n).filter(lambda text: bool(text))
