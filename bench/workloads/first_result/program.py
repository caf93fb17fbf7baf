"""The program that is timed: what a newcomer writes first. It starts Spark itself."""

from spry.datastream import StreamExecutionEnvironment


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    (
        env.from_collection(["spark", "python", "spark", "flink"])
        .map(lambda word: (word, 1))
        .key_by(lambda pair: pair[0])
        .sum(1)
        .print()
    )
    env.execute("first-result")


if __name__ == "__main__":
    main()
