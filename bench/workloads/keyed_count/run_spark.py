"""keyed-count on Spark's own Structured Streaming: `transformWithStateInPandas`, two shuffle partitions.

Two programs. By default it is the one that the other engines run: the state is read and updated for every record. With
`--frames 1` the state is read and updated once per key and micro-batch, and NumPy counts in between.

The sequence lies in Parquet files; each file is one micro-batch of an availableNow query. A first file of a
thousand records starts Python, RocksDB and the query; it is part of the result, but not of the time. What a
micro-batch costs depends more on its keys than on its records, so the rate grows with the size of a batch.
"""

import itertools
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from bench.program import parse, report

WARM_UP = 1000


class CountRecords(StatefulProcessor):
    """A counter per key; reads and updates it, and emits the count, for each record."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.count = handle.getValueState("count", "count bigint")

    def handleInputRows(self, key, rows, timerValues) -> Iterator[pd.DataFrame]:  # type: ignore[no-untyped-def]
        for frame in rows:
            counts = []
            for _ in frame["id"]:
                state = self.count.get()
                count = (state[0] if state is not None else 0) + 1
                self.count.update((count,))
                counts.append(count)
            yield pd.DataFrame({"key": key[0], "count": counts})

    def close(self) -> None:
        pass


class CountFrames(CountRecords):
    """The same counts; what a micro-batch brings for a key is counted at once."""

    def handleInputRows(self, key, rows, timerValues) -> Iterator[pd.DataFrame]:  # type: ignore[no-untyped-def]
        state = self.count.get()
        count = state[0] if state is not None else 0
        for frame in rows:
            size = len(frame)
            yield pd.DataFrame({"key": key[0], "count": np.arange(count + 1, count + size + 1)})
            count += size
        self.count.update((count,))


def write_sequence(spark: SparkSession, directory: str, n: int, batch: int) -> None:
    """Write 0..n-1 as files that the stream reads in order, one per micro-batch."""
    edges = [0, *range(min(WARM_UP, n), n, batch), n]
    for low, high in itertools.pairwise(edges):
        spark.range(low, high, numPartitions=1).write.mode("append").parquet(directory)


def main() -> None:
    options = parse(__doc__, records=301_000, batch=100_000, frames=0)
    n = options.records
    count = CountFrames() if options.frames else CountRecords()
    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers must be this Python, not the PATH's
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        .getOrCreate()
    )
    emitted = total = 0

    def sink(frame: DataFrame, _batch: int) -> None:
        nonlocal emitted, total
        row = frame.agg(F.count("*"), F.sum("count")).collect()[0]
        emitted += row[0]
        total += row[1] or 0

    directory = tempfile.mkdtemp(prefix="spry-bench-")
    try:
        write_sequence(spark, f"{directory}/in", n, options.batch)
        query = (
            spark.readStream.schema("id bigint")
            .option("maxFilesPerTrigger", 1)
            .parquet(f"{directory}/in")
            .select((F.col("id") % 1000).alias("key"), "id")
            .groupBy("key")
            .transformWithStateInPandas(count, "key bigint, count bigint", "append", "none")
            .where(F.col("count") % 100 == 0)
            .writeStream.foreachBatch(sink)
            .option("checkpointLocation", f"{directory}/checkpoint")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        batches = [p for p in query.recentProgress if p.numInputRows > 0]
    finally:
        spark.stop()
        shutil.rmtree(directory, ignore_errors=True)
    measured = batches[1:]
    seconds = sum(p.durationMs["triggerExecution"] for p in measured) / 1000
    # The harness divides records by seconds: leave the warm-up out of both.
    report(sum(p.numInputRows for p in measured), seconds, emitted=emitted, total=total)


if __name__ == "__main__":
    main()
