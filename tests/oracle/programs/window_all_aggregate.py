"""Windows over the whole stream that aggregate, by count."""

from pyflink.datastream import AggregateFunction
from pyflink.datastream.functions import ProcessAllWindowFunction
from pyflink.datastream.window import CountTumblingWindowAssigner


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Show(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield f"{context.window().id} {list(elements)}"


def define(env):
    return (
        env.from_collection(range(11))
        .window_all(CountTumblingWindowAssigner.of(4))
        .aggregate(Sum(), window_function=Show())
    )
