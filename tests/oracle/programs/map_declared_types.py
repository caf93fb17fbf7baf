"""Declared types: what a record looks like after each of them."""

from datetime import date, time
from decimal import Decimal

from pyflink.common import Types


def define(env):
    kind = Types.TUPLE(
        [Types.INT(), Types.DOUBLE(), Types.BOOLEAN(), Types.BIG_DEC(), Types.SQL_DATE(), Types.SQL_TIME()]
    )
    first = (1, 2.5, True, Decimal("1.50"), date(2024, 2, 29), time(1, 2, 3))
    second = (-7, -0.25, False, Decimal("-3"), date(1969, 12, 31), time(23, 59, 59))
    return env.from_collection([first, second], kind).map(lambda value: value, kind)
