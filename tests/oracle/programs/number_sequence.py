"""A source of numbers, bounds included."""

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream.connectors.number_seq import NumberSequenceSource


def define(env):
    source = NumberSequenceSource(-2, 7)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).map(lambda n: n * n)
