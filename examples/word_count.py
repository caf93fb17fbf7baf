"""Counts words as they come: `python examples/word_count.py [FILE]`.

Every word that comes makes a new line with its count so far; batch_mode.py shows how to get the last counts only.
"""

import sys

from spry.common import Types
from spry.datastream import StreamExecutionEnvironment

LINES = ["to be or not to be", "that is the question"]


def main(path: str | None = None) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    lines = env.read_text_file(path) if path else env.from_collection(LINES, Types.STRING())
    counts = (
        lines.flat_map(lambda line: line.split(), Types.STRING())
        .map(lambda word: (word, 1), Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0])
        .sum(1)
    )
    counts.print()
    env.execute("word count")


if __name__ == "__main__":
    main(*sys.argv[1:])
