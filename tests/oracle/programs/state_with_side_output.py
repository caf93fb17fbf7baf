"""What a function knows of a key decides which output a record goes to."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, OutputTag
from pyflink.datastream.state import MapStateDescriptor

AGAIN = OutputTag("again", Types.STRING())


class FirstTime(KeyedProcessFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.STRING(), Types.INT()))

    def process_element(self, value, ctx):
        user, page = value
        visits = (self.seen.get(page) or 0) + 1
        self.seen.put(page, visits)
        if visits > 1:
            yield AGAIN, f"{user} {page} {visits}"
        else:
            yield f"{user} {page}"


def define(env):
    visits = [("a", "x"), ("a", "y"), ("b", "x"), ("a", "x"), ("a", "x"), ("b", "y"), ("b", "x")]
    first = env.from_collection(visits).key_by(lambda v: v[0], Types.STRING()).process(FirstTime(), Types.STRING())
    return first.union(first.get_side_output(AGAIN))
