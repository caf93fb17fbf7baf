"""Two side outputs; a record may go to all outputs at once."""

from pyflink.common import Types
from pyflink.datastream import OutputTag, ProcessFunction

TWO, THREE = OutputTag("two", Types.INT()), OutputTag("three", Types.STRING())


class Divide(ProcessFunction):
    def process_element(self, value, ctx):
        yield value
        if value % 2 == 0:
            yield TWO, value
        if value % 3 == 0:
            yield THREE, str(value)


def define(env):
    main = env.from_collection(range(1, 8), Types.INT()).process(Divide(), Types.INT())
    return main.map(lambda n: f"all {n}").union(
        main.get_side_output(TWO).map(lambda n: f"two {n}"),
        main.get_side_output(THREE).map(lambda text: f"three {text}"),
    )
