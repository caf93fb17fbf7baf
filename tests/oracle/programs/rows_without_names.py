"""Rows whose fields have no names."""

from pyflink.common import Row, Types


def define(env):
    kind = Types.ROW([Types.STRING(), Types.INT()])
    return env.from_collection([("ann", 30), ("bob", 25)]).map(lambda pair: Row(pair[0], pair[1]), kind)
