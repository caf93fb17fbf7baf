"""A reduce function that changes a record in place and gives it back: what was given before stays as it was."""


def add(a, b):
    a["n"] += b["n"]
    return a


def define(env):
    records = [{"k": "a", "n": 1}, {"k": "b", "n": 5}, {"k": "a", "n": 2}, {"k": "a", "n": 3}]
    return env.from_collection(records).key_by(lambda r: r["k"]).reduce(add).map(lambda r: (r["k"], r["n"]))
