"""A key selector object, and a declared type of the key."""

from pyflink.common import Types
from pyflink.datastream import KeySelector


class Parity(KeySelector):
    def get_key(self, value):
        return value % 2


def define(env):
    return env.from_collection(range(1, 8), Types.INT()).key_by(Parity(), Types.INT()).reduce(lambda a, b: a + b)
