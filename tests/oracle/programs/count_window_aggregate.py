"""Count windows that aggregate, with a window function."""

from pyflink.datastream import AggregateFunction, WindowFunction


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} {window.id} {list(inputs)}"


def define(env):
    return env.from_collection(range(11)).key_by(lambda n: n % 2).count_window(2).aggregate(Sum(), Show())
