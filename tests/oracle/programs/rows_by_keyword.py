"""Rows that are made with keywords; one is used as a template for others."""

from pyflink.common import Row


def define(env):
    person = Row("name", "age")
    return env.from_collection([("ann", 30), ("bob", 25)]).map(
        lambda pair: f"{person(*pair)} {Row(name=pair[0], age=pair[1]).as_dict()}"
    )
