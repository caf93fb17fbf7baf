"""What failures of Spark are called, without Spark."""

from __future__ import annotations

import pytest

from spry.cluster.job import SparkJob


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("An error occurred while calling o289.rdd", "Spark's Java process is gone"),
        ("Answer from Java side is empty", "Spark's Java process is gone"),
        ("An error occurred while calling o1.rdd. Trace:\nno such method", "Spark failed the epoch"),
        ("... Trace:\nJob aborted: ExecutorLostFailure (executor 1 exited)", "an executor died: (executor 1 exited)"),
        ("... Trace:\nCannot call methods on a stopped SparkContext", "Spark was stopped"),
    ],
)
def test_what_spark_does_not_do_has_a_reason(text: str, meaning: str) -> None:
    job = SparkJob.__new__(SparkJob)
    assert str(job._explain(RuntimeError(text))).startswith(meaning)
