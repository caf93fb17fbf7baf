"""The sum so far of a field by its name, over rows."""

from pyflink.common import Row, Types


def define(env):
    kind = Types.ROW_NAMED(["k", "n", "s"], [Types.STRING(), Types.INT(), Types.STRING()])
    records = [Row("a", 3, "p"), Row("b", 1, "q"), Row("a", 1, "r"), Row("b", 5, "t")]
    return env.from_collection(records, kind).key_by(lambda r: r["k"]).sum("n")
