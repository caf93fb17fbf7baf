"""A key that is a row."""

from pyflink.common import Row, Types


def define(env):
    sales = [("de", 1), ("fr", 2), ("de", 4), ("fr", 5)]
    return (
        env.from_collection(sales)
        .key_by(lambda s: Row(s[0]), Types.ROW([Types.STRING()]))
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
