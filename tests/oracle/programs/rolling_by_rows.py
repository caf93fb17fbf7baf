"""Whole rows with the smallest and the largest field, named."""

from pyflink.common import Row, Types


def define(env):
    kind = Types.ROW_NAMED(["k", "n", "s"], [Types.STRING(), Types.INT(), Types.STRING()])
    records = [Row("a", 3, "p"), Row("a", 1, "q"), Row("a", 3, "r"), Row("a", 1, "t"), Row("a", 7, "u")]
    keyed = env.from_collection(records, kind).key_by(lambda r: r["k"])
    return keyed.min_by("n").map(lambda r: f"min {r}").union(keyed.max_by("n").map(lambda r: f"max {r}"))
