"""A day of a web shop, in some seconds: `make demo`, or `python examples/demo.py`.

Twelve hours of orders come in twelve seconds, one after the other but not quite in order: an order needs up to ten
minutes from the customer's phone to the shop, and a few phones find a network only hours later. What is not a proper
order goes to a side output. The others add up per product and hour of the day (windows in event time), and per hour;
an hour's line appears when the watermark says that it is complete. Orders that come after that go to a side output. A
timer per product tells when one has not been ordered for half an hour. The numbers are the same in every run.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from spry.common import Configuration, Duration, Time, Types, WatermarkStrategy
from spry.datastream import (
    AggregateFunction,
    KeyedProcessFunction,
    OutputTag,
    ProcessAllWindowFunction,
    ProcessFunction,
    ProcessWindowFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from spry.datastream.connectors.datagen import DataGeneratorSource
from spry.datastream.state import ValueStateDescriptor
from spry.datastream.window import TumblingEventTimeWindows

OPENS, HOURS = 8, 12
ORDERS_PER_SECOND = 10_000
SECONDS = HOURS  # A second of the demo is an hour of the shop.
MINUTE, HOUR = 60_000, 3_600_000
PRICES = {"notebook": 899.0, "phone": 649.0, "tablet": 379.0, "headphones": 129.0, "lamp": 39.0, "mug": 9.5}
PRODUCTS = tuple(PRICES)
LAMPS_ARE_OUT = 13 * HOUR, 14 * HOUR + 30 * MINUTE
MISTAKES = ("unknown product", "quantity is not positive")
BAD_ORDERS = OutputTag("bad orders", Types.STRING())
TOO_LATE = OutputTag("too late")


@dataclass(frozen=True)
class Order:
    """Some pieces of one product, and when they were ordered: ms since midnight."""

    product: str
    quantity: int
    placed: int

    def __str__(self) -> str:
        return f"{self.quantity} x {self.product}, ordered at {clock(self.placed)}"


def clock(millis: int) -> str:
    return f"{millis // HOUR:02}:{millis // MINUTE % 60:02}"


def make_order(number: int) -> Order:
    """The order that comes as this one of the day: looks like chance, but is the same in every run."""
    chance = number * 2654435761 % 2**32
    day = number / (SECONDS * ORDERS_PER_SECOND)
    comes = OPENS * HOUR + int((day + 0.04 * math.sin(4 * math.pi * day)) * HOURS * HOUR)  # Busy at 11 and at 17.
    delay = chance // 8 % (10 * MINUTE)
    if number % 9001 == 9000 and day > 0.5:
        delay = 5 * HOUR + chance % HOUR
    placed = max(comes - delay, OPENS * HOUR)
    product = PRODUCTS[min(chance % 7, chance // 7 % 6)]
    if product == "lamp" and LAMPS_ARE_OUT[0] <= placed < LAMPS_ARE_OUT[1]:
        product = "mug"
    if chance % 97 == 0:
        return Order("umbrela", 1, placed)
    if chance % 101 == 0:
        return Order(product, 0, placed)
    return Order(product, 1 + chance // 64 % 3, placed)


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


class Pieces(AggregateFunction):
    """How many pieces were ordered."""

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Order, accumulator: int) -> int:
        return accumulator + value.quantity

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class WithProduct(ProcessWindowFunction):
    """Says of which product the pieces are."""

    def process(
        self, key: str, context: ProcessWindowFunction.Context, elements: Iterable[int]
    ) -> Iterator[tuple[str, int]]:
        [pieces] = elements
        yield key, pieces


class HourOfTheShop(ProcessAllWindowFunction):
    """One line per hour, of the products' results for that hour."""

    def process(self, context: ProcessAllWindowFunction.Context, elements: Iterable[tuple[str, int]]) -> Iterator[str]:
        sold = dict(elements)
        revenue = sum(pieces * PRICES[product] for product, pieces in sold.items())
        best = max(sold, key=lambda product: sold[product] * PRICES[product])
        hour = f"{clock(context.window().start)} to {clock(context.window().end)}"
        bar = "#" * round(revenue / 500_000)
        yield f"{hour} {sum(sold.values()):8,} pieces {revenue:14,.2f}  most: {best:9} {bar}"


class SoldOut(KeyedProcessFunction):
    """Tells when nobody has ordered a product for half an hour."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.alarm = runtime_context.get_state(ValueStateDescriptor("alarm", Types.LONG()))

    def process_element(self, value: Order, ctx: KeyedProcessFunction.Context) -> None:
        alarm, due = self.alarm.value(), (value.placed // MINUTE + 30) * MINUTE
        if alarm is None or due > alarm:
            if alarm is not None and value.placed < alarm:
                ctx.timer_service().delete_event_time_timer(alarm)
            ctx.timer_service().register_event_time_timer(due)
            self.alarm.update(due)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[str]:
        if timestamp < (OPENS + HOURS) * HOUR:
            yield f"sold out? No {ctx.get_current_key()} was ordered for half an hour, at {clock(timestamp)}"


def main() -> None:
    count = SECONDS * ORDERS_PER_SECOND
    print(f"{count:,} orders of {HOURS} hours, an hour per second. First, Spark starts ...")
    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration().set_string("spry.spark.master", "local[2]")
    )
    env.set_parallelism(2)
    source = DataGeneratorSource(make_order, count, records_per_second=ORDERS_PER_SECOND)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_minutes(10)).with_timestamp_assigner(
        lambda order, before: order.placed
    )
    orders = env.from_source(source, strategy, "orders").set_parallelism(1)
    valid = orders.process(Validate()).set_parallelism(1).name("validate")
    mistakes = valid.get_side_output(BAD_ORDERS).map(lambda text: ("mistake", text)).name("mistakes")

    by_product = valid.key_by(lambda order: order.product)
    an_hour = TumblingEventTimeWindows.of(Time.hours(1))
    sales = by_product.window(an_hour).side_output_late_data(TOO_LATE).aggregate(Pieces(), WithProduct())
    hours = sales.window_all(an_hour).process(HourOfTheShop()).name("hours")
    too_late = sales.get_side_output(TOO_LATE).map(lambda order: f"too late: {order}").name("too late")
    sold_out = by_product.process(SoldOut()).name("sold out?")
    hours.print().set_parallelism(1)
    too_late.union(sold_out).map(lambda text: f"    {text}").set_parallelism(1).print().set_parallelism(1)

    pieces: Counter[str] = Counter()
    examples: dict[str, str] = {}
    results = sales.map(lambda result: ("sales", result)).union(mistakes)
    with results.execute_and_collect("web shop") as stream:
        for kind, result in stream:
            if kind == "mistake":
                examples.setdefault(result.split(":")[0], result)
            else:
                pieces[result[0]] += result[1]
        counted = stream.get_job_client().get_job_execution_result().result()
    show(pieces, examples, counted.get_all_accumulator_results(), counted.get_net_runtime() / 1000)


def show(pieces: Counter[str], examples: dict[str, str], accumulators: dict[str, Any], seconds: float) -> None:
    """The list at the end."""
    print("\nProduct        Pieces        Revenue")
    revenue = {product: number * PRICES[product] for product, number in pieces.items()}
    for product, total in sorted(revenue.items(), key=lambda item: -item[1]):
        print(f"{product:12} {pieces[product]:8,} {total:14,.2f}  {'#' * round(total / max(revenue.values()) * 30)}")
    mistakes = Counter(accumulators["mistakes"])
    print(f"\n{accumulators['orders']:,} orders in {seconds:.1f} s, {mistakes.total():,} of them not valid:")
    for mistake, number in mistakes.most_common():
        print(f"  {number:5,}  {mistake:26} e.g. {examples[mistake].split(': ', 1)[1]}")


if __name__ == "__main__":
    main()
