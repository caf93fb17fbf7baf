"""A partitioner object and a key selector object.

PyFlink fails in thread mode at parallelism 1: it gives the partitioner -1 as the number of partitions.
"""

from pyflink.datastream import KeySelector, Partitioner

RULES = ["A", "BB", "CCC"]


class ByLength(Partitioner):
    def partition(self, key, num_partitions):
        return key % num_partitions


class Length(KeySelector):
    def get_key(self, value):
        return len(value)


def define(env):
    return env.from_collection(["a", "bb", "ccc"]).partition_custom(ByLength(), Length()).map(lambda w: w.upper())
