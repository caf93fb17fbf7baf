"""One stream in, three out: results, and two side outputs.

A process function emits a result with `yield value` and to a side output with `yield tag, value`.
"""

from collections.abc import Iterator
from typing import Any

from spry.common import Types
from spry.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment

LINES = ["berlin 21.5", "oslo -3", "cairo 41.2", "paris", "lima 19.0", "rome warm"]
TOO_HOT = OutputTag("too hot", Types.STRING())
UNREADABLE = OutputTag("unreadable", Types.STRING())


class Parse(ProcessFunction):
    """Reads a city's temperature."""

    def process_element(self, value: str, ctx: ProcessFunction.Context) -> Iterator[Any]:
        try:
            city, text = value.split()
            degrees = float(text)
        except ValueError:
            yield UNREADABLE, value
            return
        if degrees > 40:
            yield TOO_HOT, f"{city} has {degrees} degrees"
        yield city, degrees


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    readings = env.from_collection(LINES).process(Parse(), Types.TUPLE([Types.STRING(), Types.DOUBLE()]))
    readings.print("reading")
    readings.get_side_output(TOO_HOT).print("alarm")
    readings.get_side_output(UNREADABLE).print("not understood")
    env.execute("side outputs")


if __name__ == "__main__":
    main()
