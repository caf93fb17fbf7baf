"""Sliding count windows: of the last three elements of a key, at each element from the third on."""


def define(env):
    return env.from_collection(range(1, 9)).key_by(lambda n: n % 2).count_window(3, 1).reduce(lambda a, b: a * 10 + b)
