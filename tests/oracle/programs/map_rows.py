"""Rows with field names: made, read by name and by position, and printed.

PyFlink fails: a row that goes straight from one function to the next has not got the names of its declared type.
"""

from pyflink.common import Row, Types

RULES = ["Row(name='ANN', age=31)", "Row(name='BOB', age=26)"]


def define(env):
    kind = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])
    people = env.from_collection([("ann", 30), ("bob", 25)])
    rows = people.map(lambda pair: Row(*pair), kind)
    return rows.map(lambda row: Row(row["name"].upper(), row[1] + 1), kind)
