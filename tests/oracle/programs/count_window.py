"""Count windows fire at every so many elements of a key; what is left at the end gives nothing."""


def define(env):
    return env.from_collection(range(11)).key_by(lambda n: n % 2).count_window(2).reduce(lambda a, b: a * 100 + b)
