"""Aggregating state that counts by name in a dict; its result is a copy."""

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, FlatMapFunction
from pyflink.datastream.state import AggregatingStateDescriptor


class Tally(AggregateFunction):
    def create_accumulator(self):
        return {}

    def add(self, value, accumulator):
        accumulator[value] = accumulator.get(value, 0) + 1
        return accumulator

    def get_result(self, accumulator):
        return sorted(accumulator.items())

    def merge(self, a, b):
        return {name: a.get(name, 0) + b.get(name, 0) for name in {*a, *b}}


class Votes(FlatMapFunction):
    def open(self, runtime_context):
        kind = Types.PICKLED_BYTE_ARRAY()
        self.tally = runtime_context.get_aggregating_state(AggregatingStateDescriptor("tally", Tally(), kind))

    def flat_map(self, value):
        district, name = value
        if name == "result":
            yield f"{district} {self.tally.get()}"
            self.tally.clear()
        else:
            self.tally.add(name)


def define(env):
    votes = [("n", "x"), ("s", "y"), ("n", "x"), ("n", "y"), ("n", "result"), ("s", "result"), ("n", "x")]
    return (
        env.from_collection([*votes, ("n", "result"), ("s", "result")])
        .key_by(lambda v: v[0], Types.STRING())
        .flat_map(Votes())
    )
