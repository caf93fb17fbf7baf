"""Clean-up in RocksDB changes nothing for who reads.

PyFlink fails to pickle the configuration.
"""

import time

from pyflink.common import Time, Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import ListStateDescriptor, StateTtlConfig

ORDERED = True
TTL = (
    StateTtlConfig.new_builder(Time.seconds(2))
    .update_ttl_on_create_and_write()
    .never_return_expired()
    .cleanup_in_rocksdb_compact_filter(10)
    .build()
)

RULES = ["add ['a'] None", "add ['b'] None", "get [] ['b']", "update [['c']] None", "get [] ['c']"]


class Steps(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = ListStateDescriptor("state", Types.STRING())
        descriptor.enable_time_to_live(TTL)
        self.state = runtime_context.get_list_state(descriptor)

    def process_element(self, step, ctx):
        method, *arguments = step
        if method == "wait":
            time.sleep(arguments[0])
            return
        result = getattr(self.state, method)(*arguments)
        yield f"{method} {arguments} {result if result is None else list(result)}"


def define(env):
    steps = [
        ("add", "a"),
        ("wait", 1.25),
        ("add", "b"),
        ("wait", 1.25),
        ("get",),
        ("update", ["c"]),
        ("get",),
    ]
    return env.from_collection(steps).key_by(lambda _: 0, Types.INT()).process(Steps())
