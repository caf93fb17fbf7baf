"""Global windows never fire by themselves, not even at the end of the input."""

from pyflink.datastream.window import GlobalWindows


def define(env):
    numbers = env.from_collection(range(5))
    never = numbers.key_by(lambda n: n % 2).window(GlobalWindows.create()).reduce(lambda a, b: a + b)
    return never.union(numbers.filter(lambda n: n == 3))
