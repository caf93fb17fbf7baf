"""A job that runs while the program goes on: its status, its numbers, its end."""

import time

from spry.common import WatermarkStrategy
from spry.datastream import MapFunction, RuntimeContext, StreamExecutionEnvironment
from spry.datastream.connectors.datagen import DataGeneratorSource


class Count(MapFunction):
    """Counts what passes."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.seen = runtime_context.get_int_counter("seen")

    def map(self, value: int) -> int:
        self.seen.add(1)
        return value


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    endless = DataGeneratorSource(lambda index: index, count=None, records_per_second=1000)
    ticks = env.from_source(endless, WatermarkStrategy.no_watermarks(), "ticks")
    ticks.map(Count()).name("count").add_sink(lambda value: None)

    client = env.execute_async("endless")
    print("started job", len(str(client.get_job_id())), "digits of id")
    while (seen := client.get_accumulators().result().get("seen", 0)) < 500:
        time.sleep(0.05)
    print("status:", client.get_job_status().result().name)
    print("at least 500 seen:", seen >= 500)
    print("subtasks:", client.get_execution_states())
    client.cancel().result()
    print("status:", client.get_job_status().result().name)


if __name__ == "__main__":
    main()
