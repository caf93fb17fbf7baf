"""Each key's state has its own time."""

import time

from pyflink.common import Time, Types
from pyflink.datastream import MapFunction
from pyflink.datastream.state import StateTtlConfig, ValueStateDescriptor

TTL = StateTtlConfig.new_builder(Time.seconds(2)).build()


class Attempts(MapFunction):
    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("attempts", Types.INT())
        descriptor.enable_time_to_live(TTL)
        self.attempts = runtime_context.get_state(descriptor)

    def map(self, user):
        if user == "wait":
            time.sleep(1.25)
        self.attempts.update((self.attempts.value() or 0) + 1)
        return user, self.attempts.value()


def define(env):
    users = ["a", "b", "a", "wait", "a", "wait", "a", "b", "c", "wait", "a", "b", "c", "wait", "c"]
    return env.from_collection(users).key_by(lambda user: user).map(Attempts()).set_parallelism(1)
