"""A trigger of one's own with map state: fires when an element comes the second time."""

from pyflink.common import Types
from pyflink.datastream import WindowFunction
from pyflink.datastream.state import MapStateDescriptor
from pyflink.datastream.window import GlobalWindows, Trigger, TriggerResult


class OnSecond(Trigger):
    def __init__(self):
        self.seen = MapStateDescriptor("seen", Types.STRING(), Types.BOOLEAN())

    def on_element(self, element, timestamp, window, ctx):
        seen = ctx.get_partitioned_state(self.seen)
        if seen.contains(element[1]):
            seen.clear()
            return TriggerResult.FIRE_AND_PURGE
        seen.put(element[1], True)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.seen).clear()


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} {''.join(word for _, word in inputs)}"


def define(env):
    records = [("kl"[n % 2], letter) for n, letter in enumerate("abcabdaxxbyzzadb")]
    return (
        env.from_collection(records)
        .key_by(lambda r: r[0], Types.STRING())
        .window(GlobalWindows.create())
        .trigger(OnSecond())
        .apply(Show())
    )
