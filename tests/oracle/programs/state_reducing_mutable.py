"""Reducing state whose function changes its first argument and gives it back."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ReducingStateDescriptor


def extend(one, other):
    one.extend(other)
    return one


class Collect(KeyedProcessFunction):
    def open(self, runtime_context):
        kind = Types.PICKLED_BYTE_ARRAY()
        self.all = runtime_context.get_reducing_state(ReducingStateDescriptor("all", extend, kind))

    def process_element(self, value, ctx):
        self.all.add([value])
        yield f"{value % 2} {self.all.get()}"


def define(env):
    return env.from_collection(range(7)).key_by(lambda n: n % 2, Types.INT()).process(Collect())
