"""What the programs of `Report` benchmarks share: jobs to watch, and the line that they print at the end."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from spry.common import Configuration
from spry.common.sink import WriterContext
from spry.datastream import StreamExecutionEnvironment
from spry.datastream.functions import SinkFunction

__all__ = ["Discard", "environment", "load_average", "publish", "verdict"]


class Discard(SinkFunction[Any]):
    """Takes records and does nothing with them."""

    def invoke(self, value: Any, context: WriterContext) -> None:
        pass


def environment(parallelism: int, options: Mapping[str, str] | None = None) -> StreamExecutionEnvironment:
    """An environment on a Spark with two cores, without progress on the terminal."""
    configuration = Configuration()
    configuration.set_string("spark.master", "local[2]")
    configuration.set_string("spry.progress", "none")
    for name, value in (options or {}).items():
        configuration.set_string(name, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    return env


def load_average() -> float:
    """How many processes wanted a core in the last minute."""
    return round(os.getloadavg()[0], 2)


def verdict(value: float, limit: float) -> str:
    """Whether a figure keeps its target."""
    return "met" if value <= limit else "MISSED"


def publish(
    *,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    load_before: float,
    rates: Mapping[str, float] | None = None,
    ratios: Mapping[str, float] | None = None,
    figures: Mapping[str, float] | None = None,
    details: Any = None,
    notes: Sequence[str] = (),
) -> None:
    """Print the line that the harness reads."""
    load = f"load average (1 minute) {load_before} before and {load_average()} after, on {os.cpu_count()} CPUs"
    printed: dict[str, Any] = {
        "rates": dict(rates or {}),
        "ratios": dict(ratios or {}),
        "figures": dict(figures or {}),
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "notes": [*notes, load],
    }
    if details is not None:
        printed["details"] = details
    print(json.dumps(printed), flush=True)
