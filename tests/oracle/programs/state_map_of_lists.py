"""Map state whose values are lists, which are changed and put back."""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction
from pyflink.datastream.state import MapStateDescriptor


class Group(KeyedProcessFunction):
    def open(self, runtime_context):
        self.groups = runtime_context.get_map_state(
            MapStateDescriptor("groups", Types.STRING(), Types.LIST(Types.INT()))
        )

    def process_element(self, value, ctx):
        key, group, number = value
        numbers = self.groups.get(group) or []
        numbers.append(number)
        self.groups.put(group, numbers)
        if sum(numbers) > 10:
            self.groups.remove(group)
            yield f"{key} {group} {numbers}"

        if len(list(self.groups.keys())) > 1:
            yield f"{key} waiting {sorted(self.groups.items())}"


def define(env):
    records = [("k" if n % 5 else "l", "xyz"[n % 3], n) for n in range(14)]
    return env.from_collection(records).key_by(lambda r: r[0], Types.STRING()).process(Group())
