"""A record that is not of the declared type.

PyFlink fails where the value is used first.
"""

from pyflink.common import Types

FAILS = ""


def define(env):
    return env.from_collection([1, 2]).map(lambda n: [n], Types.INT()).map(lambda n: n + 1)
