"""Rolling aggregates: after every record, how its key stands.

`sum`, `min` and `max` fold one field and leave the others as they were in the key's first record; `min_by` and `max_by`
keep the whole record; `reduce` takes a function of one's own.
"""

from spry.common import Types
from spry.datastream import DataStream, KeyedStream, StreamExecutionEnvironment

SALES = [("tea", 4, "mo"), ("coffee", 3, "mo"), ("tea", 1, "tu"), ("coffee", 5, "tu"), ("tea", 6, "we")]
SALE = Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])


def show(title: str, stream: DataStream) -> None:
    with stream.execute_and_collect() as results:
        print(f"{title:8}", *(f"{product} {number} {day}" for product, number, day in results), sep="  ")


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)

    def by_product() -> KeyedStream:
        return env.from_collection(SALES, SALE).key_by(lambda sale: sale[0])

    show("sales", env.from_collection(SALES, SALE).filter(lambda sale: True))
    show("sum", by_product().sum(1))
    show("min", by_product().min(1))
    show("max", by_product().max(1))
    show("min_by", by_product().min_by(1))
    show("max_by", by_product().max_by(1))
    show("reduce", by_product().reduce(lambda a, b: (a[0], a[1] + b[1], f"{a[2]}+{b[2]}")))


if __name__ == "__main__":
    main()
