"""Map state: entries are removed while their keys, taken before, are gone through."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor


class Sessions(KeyedProcessFunction):
    """Keeps what is not older than ten."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.INT(), Types.STRING()))

    def process_element(self, value, ctx):
        _, time, name = value
        for known in list(self.seen.keys()):
            if known < time - 10:
                self.seen.remove(known)
        self.seen.put(time, name)
        for known, other in sorted(self.seen.items()):
            if other == name and known != time:
                self.seen.remove(known)
                yield f"{value} again, {known}"
        yield f"{value} {sorted(self.seen.keys())} {sorted(self.seen.values())}"


def define(env):
    names = ["x", "y", "x", "z", "y", "x", "w"]
    records = [(n % 2, n * 4, name) for n, name in enumerate(names)]
    return env.from_collection(records).key_by(lambda r: r[0], Types.INT()).process(Sessions())
