"""List state that is read, cut and written back: the last three values of each key."""

from pyflink.common import Types
from pyflink.datastream import FlatMapFunction
from pyflink.datastream.state import ListStateDescriptor


class LastThree(FlatMapFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_list_state(ListStateDescriptor("last", Types.STRING()))

    def flat_map(self, value):
        self.last.add(value[1])
        kept = list(self.last.get())[-3:]
        self.last.update(kept)
        if len(kept) == 3:
            yield f"{value[0]}: {' '.join(kept)}"


def define(env):
    records = [("ab"[n % 2], str(n)) for n in range(11)]
    return env.from_collection(records).key_by(lambda r: r[0], Types.STRING()).flat_map(LastThree())
