"""A stream that splits and meets again, and how it is executed.

Measurements are counted, and checked, and both meet in one alert stream. `spry info examples/diamond.py` shows more.
"""

from spry.common import Types
from spry.datastream import StreamExecutionEnvironment

MEASUREMENTS = [("boiler", 71), ("pump", 22), ("boiler", 96), ("pump", 24), ("boiler", 78), ("pump", 55)]


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    pair = Types.TUPLE([Types.STRING(), Types.INT()])
    measurements = env.from_collection(MEASUREMENTS, pair).rebalance().map(lambda m: m, pair).name("read")
    too_hot = measurements.filter(lambda m: m[1] > 90).map(lambda m: f"{m[0]} is at {m[1]} degrees").name("too hot")
    frequent = (
        measurements.map(lambda m: (m[0], 1), pair)
        .key_by(lambda m: m[0])
        .sum(1)
        .filter(lambda m: m[1] == 3)
        .map(lambda m: f"{m[0]} was measured 3 times")
        .name("frequent")
    )
    too_hot.union(frequent).map(lambda text: text.capitalize()).print()

    graph = env.get_execution_graph()
    for level in range(graph.levels):
        names = [f"{v.name} (x{v.parallelism})" for v in graph.vertices if v.level == level]
        print(f"level {level}: {', '.join(names)}")
    env.execute("diamond")


if __name__ == "__main__":
    main()
