"""A key of several fields: a tuple."""

from pyflink.common import Types


def define(env):
    sales = [("de", "a", 1), ("de", "b", 2), ("fr", "a", 3), ("de", "a", 4), ("fr", "a", 5)]
    return (
        env.from_collection(sales)
        .key_by(lambda s: (s[0], s[1]), Types.TUPLE([Types.STRING(), Types.STRING()]))
        .reduce(lambda a, b: (a[0], a[1], a[2] + b[2]))
    )
