"""Files that have every result exactly once, whatever happens to the program.

Orders come in; for each, a line says how many its customer has made so far. The lines become visible with the
checkpoints. Stop the program somewhere in between, with Ctrl-C or kill -9, and let it go on:

    spry run examples/exactly_once_files.py /tmp/orders
    spry run -s /tmp/orders/checkpoints/<the job's directory> examples/exactly_once_files.py /tmp/orders

When it has ended it looks whether every order is there once, and has the number that it should have.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spry.common import Configuration, Encoder, Types, WatermarkStrategy
from spry.datastream import (
    ExternalizedCheckpointRetention,
    KeyedProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from spry.datastream.connectors.datagen import DataGeneratorSource
from spry.datastream.connectors.file_system import BucketAssigner, FileSink, OutputFileConfig, RollingPolicy
from spry.datastream.state import ValueStateDescriptor

CUSTOMERS = 10


class Number(KeyedProcessFunction):
    """Numbers the orders of each customer."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG(), 0))

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Iterator[str]:
        self.count.update(self.count.value() + 1)
        yield f"order {value} is number {self.count.value()} of customer {ctx.get_current_key()}"


def environment(directory: Path, **options: str) -> StreamExecutionEnvironment:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
    env.set_parallelism(2)
    env.enable_checkpointing(500)
    config = env.get_checkpoint_config()
    config.set_checkpoint_storage_dir(str(directory / "checkpoints"))
    # Checkpoints also stay if the job is cancelled, which is what Ctrl-C does.
    config.set_externalized_checkpoint_retention(ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION)
    return env


def define(env: StreamExecutionEnvironment, directory: Path, orders: int) -> None:
    source = DataGeneratorSource(lambda index: index, count=orders, records_per_second=1000)
    sink = (
        FileSink.for_row_format(str(directory / "results"), Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .with_output_file_config(OutputFileConfig.builder().with_part_suffix(".txt").build())
        .build()
    )
    # The uids are what the state is found by when the program has changed.
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "orders").uid("orders")
    numbers.key_by(lambda order: order % CUSTOMERS).process(Number()).uid("number").sink_to(sink).uid("files")


def check(directory: Path, orders: int) -> str:
    """Look at what can be seen outside."""
    files = [path for path in (directory / "results").iterdir() if not path.name.startswith(".")]
    words = [line.split() for path in files for line in path.read_text().splitlines()]
    assert sorted(int(order) for _, order, *_ in words) == list(range(orders)), "every order is there once"
    numbers = Counter((customer, int(number)) for _, _, _, _, number, _, _, customer in words)
    assert set(numbers.values()) == {1}, "no number was given twice"
    assert all(number <= orders // CUSTOMERS + 1 for _, number in numbers), "and none was left out"
    return f"{len(words)} orders in {len(files)} files, each of them once"


def newest_job(directory: Path) -> Any:
    """The directory of the job that has completed a checkpoint last."""
    found = (directory / "checkpoints").glob("*/chk-*/_metadata")
    return max(found, key=lambda path: path.stat().st_mtime).parent.parent


def main(target: str | None = None, orders: str = "20000") -> None:
    directory = Path(target or tempfile.mkdtemp(prefix="spry-example-")).absolute()
    env = environment(directory)
    define(env, directory, int(orders))
    try:
        env.execute("exactly once")
    except KeyboardInterrupt:
        program = " ".join([sys.argv[0], str(directory), orders])
        print(f"\nGo on with: spry run -s {newest_job(directory)} {program}")
        raise
    print(check(directory, int(orders)))


if __name__ == "__main__":
    main(*sys.argv[1:])
