"""A rolling aggregate over the results of another one, under another key."""


def define(env):
    records = [("a", "x", 1), ("a", "y", 2), ("a", "x", 3)]
    return (
        env.from_collection(records)
        .key_by(lambda r: (r[0], r[1]))
        .sum(2)
        .set_parallelism(1)
        .key_by(lambda r: r[0])
        .max(2)
        .set_parallelism(1)
    )
