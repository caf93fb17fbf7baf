"""The same program in streaming mode and in batch mode.

Streaming gives a result for every record. Batch mode needs sources that end, and gives each key's last result only.
"""

from spry.common import Types
from spry.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

WORDS = ["a", "rose", "is", "a", "rose", "is", "a", "rose"]


def count(mode: RuntimeExecutionMode) -> list[tuple[str, int]]:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1).set_runtime_mode(mode)
    pairs = env.from_collection([(word, 1) for word in WORDS], Types.TUPLE([Types.STRING(), Types.INT()]))
    with pairs.key_by(lambda pair: pair[0]).sum(1).execute_and_collect() as results:
        return list(results)


def main() -> None:
    print("streaming:", *count(RuntimeExecutionMode.STREAMING))
    print("batch:    ", *count(RuntimeExecutionMode.BATCH))
    print("automatic:", *count(RuntimeExecutionMode.AUTOMATIC))


if __name__ == "__main__":
    main()
