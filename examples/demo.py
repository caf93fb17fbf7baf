"""A web shop's orders, as they come: `make demo`, or `python examples/demo.py`.

Orders come in at a steady rate. What is not a proper order goes to a side output, the others add up per product: each
product's revenue is kept as state, by the subtask that the product's name belongs to.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spry.common import Configuration, Types, WatermarkStrategy
from spry.datastream import KeyedProcessFunction, OutputTag, ProcessFunction, RuntimeContext, StreamExecutionEnvironment
from spry.datastream.connectors.datagen import DataGeneratorSource
from spry.datastream.state import ValueStateDescriptor

SECONDS = 10
ORDERS_PER_SECOND = 20_000
PRICES = {"notebook": 899.0, "phone": 649.0, "tablet": 379.0, "headphones": 129.0, "lamp": 39.0, "mug": 9.5}
PRODUCTS = tuple(PRICES)
MISTAKES = ("unknown product", "quantity is not positive")
BAD_ORDERS = OutputTag("bad orders", Types.STRING())


@dataclass(frozen=True)
class Order:
    """Some pieces of one product."""

    product: str
    quantity: int


def make_order(number: int) -> Order:
    """The order with this number: looks like chance, but is the same in every run."""
    chance = number * 2654435761 % 2**32
    product = PRODUCTS[min(chance % 7, chance // 7 % 6)]
    if chance % 97 == 0:
        return Order("umbrela", 1)
    if chance % 101 == 0:
        return Order(product, 0)
    return Order(product, 1 + chance // 64 % 3)


class Validate(ProcessFunction):
    """Passes proper orders on; says what is wrong with the others, on the side."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.orders = runtime_context.get_int_counter("orders")
        self.mistakes = runtime_context.get_histogram("mistakes")

    def process_element(self, value: Order, ctx: ProcessFunction.Context) -> Iterator[Any]:
        self.orders.add(1)
        mistake = None
        if value.product not in PRICES:
            mistake = MISTAKES[0]
        elif value.quantity < 1:
            mistake = MISTAKES[1]
        if mistake is None:
            yield value
        else:
            self.mistakes.add(mistake)
            yield BAD_ORDERS, f"{mistake}: {value}"


class Revenue(KeyedProcessFunction):
    """The running revenue of each product."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.revenue = runtime_context.get_state(ValueStateDescriptor("revenue", Types.DOUBLE()))
        self.pieces = runtime_context.get_state(ValueStateDescriptor("pieces", Types.LONG()))

    def process_element(self, value: Order, ctx: KeyedProcessFunction.Context) -> Iterator[tuple[str, int, float]]:
        revenue = (self.revenue.value() or 0.0) + value.quantity * PRICES[value.product]
        pieces = (self.pieces.value() or 0) + value.quantity
        self.revenue.update(revenue)
        self.pieces.update(pieces)
        yield value.product, pieces, revenue


def main() -> None:
    count = SECONDS * ORDERS_PER_SECOND
    print(f"{count:,} orders in {SECONDS} s, {ORDERS_PER_SECOND:,} per second. First, Spark starts ...")
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration().set_string("spry.spark.master", "local[2]")
    )
    env.set_parallelism(2)
    source = DataGeneratorSource(make_order, count, records_per_second=ORDERS_PER_SECOND)
    orders = env.from_source(source, WatermarkStrategy.no_watermarks(), "orders")
    valid = orders.process(Validate()).name("validate")
    mistakes = valid.get_side_output(BAD_ORDERS).map(lambda text: ("mistake", text)).name("mistakes")
    revenue = valid.key_by(lambda order: order.product).process(Revenue()).name("revenue")

    latest: dict[str, tuple[int, float]] = {}
    examples: dict[str, str] = {}
    results = revenue.map(lambda result: ("revenue", result)).union(mistakes)
    with results.execute_and_collect("web shop") as stream:
        for kind, result in stream:
            if kind == "mistake":
                examples.setdefault(result.split(":")[0], result)
            else:
                product, pieces, total = result
                latest[product] = (pieces, total)
        counted = stream.get_job_client().get_job_execution_result().result()
    show(latest, examples, counted.get_all_accumulator_results(), counted.get_net_runtime() / 1000)


def show(
    latest: dict[str, tuple[int, float]], examples: dict[str, str], accumulators: dict[str, Any], seconds: float
) -> None:
    """The list at the end."""
    print("\nProduct        Pieces        Revenue")
    for product, (pieces, total) in sorted(latest.items(), key=lambda item: -item[1][1]):
        print(
            f"{product:12} {pieces:8,} {total:14,.2f}  {'#' * round(total / max(t for _, t in latest.values()) * 30)}"
        )
    mistakes = Counter(accumulators["mistakes"])
    print(f"\n{accumulators['orders']:,} orders in {seconds:.1f} s, {mistakes.total():,} of them not valid:")
    for mistake, number in mistakes.most_common():
        print(f"  {number:5,}  {mistake:26} e.g. {examples[mistake].split(': ', 1)[1]}")


if __name__ == "__main__":
    main()
