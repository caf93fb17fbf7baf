"""Rows are reduced to rows."""

from pyflink.common import Row, Types


def define(env):
    kind = Types.ROW_NAMED(["shop", "total"], [Types.STRING(), Types.INT()])
    return (
        env.from_collection([Row("x", 1), Row("y", 5), Row("x", 2)], kind)
        .key_by(lambda row: row["shop"])
        .reduce(lambda a, b: Row(a["shop"], a["total"] + b["total"]))
    )
