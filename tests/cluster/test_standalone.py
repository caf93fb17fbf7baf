"""Programs on a standalone cluster of two workers: the same API, slots spread and pinned."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.standalone import StandaloneCluster

pytestmark = [pytest.mark.spark, pytest.mark.cluster]

_HEAD = """
import json, os, signal, sys, time
from spry.common import Configuration, Types
from spry.datastream import *

def make_env(parallelism):
    configuration = Configuration()
    configuration.set_string("spark.executor.memory", "512m")
    configuration.set_string("spark.master", os.environ["TEST_MASTER"])
    configuration.set_string("spry.progress", "none")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(parallelism)
    return env
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[StandaloneCluster]:
    running = StandaloneCluster()
    try:
        yield running.start()
    finally:
        running.stop()


def run(cluster: StandaloneCluster, directory: Path, program: str, *command: str) -> subprocess.CompletedProcess[str]:
    path = directory / "program.py"
    path.write_text(_HEAD + textwrap.dedent(program))
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "TEST_MASTER": cluster.url, "PYTHONPATH": root, "PYSPARK_PYTHON": sys.executable}
    return subprocess.run(
        [*(command or (sys.executable,)), str(path)],
        env=environment, cwd=directory, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


def result(answer: subprocess.CompletedProcess[str]) -> Any:
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return json.loads(answer.stdout.strip().splitlines()[-1])


def test_keyed_state_stays_with_its_slot_on_both_executors(cluster: StandaloneCluster, tmp_path: Path) -> None:
    answer = run(
        cluster,
        tmp_path,
        """
        class Where(KeyedProcessFunction):
            def open(self, runtime_context):
                self.executor = os.getcwd()
                self.total = runtime_context.get_state(ValueStateDescriptor("total"))
            def process_element(self, value, ctx):
                self.total.update((self.total.value() or 0) + 1)
                yield os.getpid(), self.executor, ctx.get_current_key(), self.total.value()

        from spry.datastream.state import ValueStateDescriptor
        stream = make_env(4).from_sequence(1, 20000).map(lambda n: (n % 50, n)).rebalance().map(lambda r: r)
        out = list(stream.key_by(lambda r: r[0]).process(Where()).execute_and_collect())
        final = {}
        for pid, executor, key, total in out:
            final[key] = max(final.get(key, 0), total)
        places = {key: len({pid for pid, _, k, _ in out if k == key}) for key in final}
        print(json.dumps({"final": sorted(set(final.values())), "pids": len({o[0] for o in out}),
                          "executors": len({o[1] for o in out}), "places": max(places.values())}))
        """,
    )
    assert result(answer) == {"final": [400], "pids": 4, "executors": 2, "places": 1}


def test_an_executors_death_fails_the_job_with_a_clear_error(cluster: StandaloneCluster, tmp_path: Path) -> None:
    answer = run(
        cluster,
        tmp_path,
        """
        def kill_the_executor(n):
            if n == 700:
                daemon = os.getppid()
                java = int(open(f"/proc/{daemon}/stat").read().rsplit(")", 1)[1].split()[1])
                os.kill(java, signal.SIGKILL)
                time.sleep(30)
            return n

        env = make_env(2)
        env.from_sequence(1, 1000).map(kill_the_executor).key_by(lambda n: n % 3).reduce(max).add_sink(lambda n: None)
        try:
            env.execute("doomed")
        except Exception as error:
            print(json.dumps([type(error).__name__, str(error)]))
        """,
    )
    name, text = result(answer)
    assert name == "JobExecutionError"
    assert "executor died" in text or "process died" in text, text


def test_code_files_archives_and_cached_files_reach_the_workers(cluster: StandaloneCluster, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "pricing.py").write_text("RATE = 3\ndef price(n):\n    return RATE * n\n")
    (tmp_path / "rates.txt").write_text("5")
    import zipfile

    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("deep/number.txt", "7")
    answer = run(
        cluster,
        tmp_path,
        """
        class Price(MapFunction):
            def open(self, runtime_context):
                from pricing import price
                self.price = price
                path = runtime_context.get_distributed_cache().get_file("rates")
                self.rate = int(open(path).read())
                self.number = int(open("data/deep/number.txt").read())
                self.greeting = runtime_context.get_job_parameter("greeting", "none")
            def map(self, value):
                return self.price(value) + 10 * self.rate + 100 * self.number, self.greeting

        env = make_env(2)
        env.add_python_file("elsewhere/pricing.py")
        env.add_python_archive("data.zip", "data")
        env.register_cached_file("rates.txt", "rates")
        env.get_config().set_global_job_parameters({"greeting": "hello"})
        out = sorted(env.from_sequence(1, 3).map(Price()).execute_and_collect())
        print(json.dumps(out))
        """,
    )
    assert result(answer) == [[753, "hello"], [756, "hello"], [759, "hello"]]


def test_spark_submit_with_a_session_of_the_programs_own(cluster: StandaloneCluster, tmp_path: Path) -> None:
    import pyspark

    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    answer = run(
        cluster,
        tmp_path,
        """
        from pyspark.sql import SparkSession
        from dataclasses import dataclass

        @dataclass(frozen=True)
        class Point:
            x: int
            y: int

        session = SparkSession.builder.getOrCreate()
        configuration = Configuration()
        configuration.set_string("spry.progress", "none")
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(2)
        points = env.from_sequence(1, 4).map(lambda n: Point(n % 2, n)).key_by(lambda p: p.x)
        best = {}
        for point in points.max_by("y").execute_and_collect():
            best[point.x] = max(best.get(point.x, 0), point.y)
        print(json.dumps([session.sparkContext.master, best[0], best[1]]))
        """,
        str(submit),
        "--master",
        cluster.url,
        "--conf",
        "spark.executor.memory=512m",
    )
    assert result(answer) == [cluster.url, 4, 3]


def test_a_busy_function_on_a_cluster_is_interrupted_and_closed(cluster: StandaloneCluster, tmp_path: Path) -> None:
    """Spark alone would kill the process after some seconds, and nothing would be closed."""
    answer = run(
        cluster,
        tmp_path,
        """
        class Busy(MapFunction):
            def open(self, runtime_context):
                self.index = runtime_context.get_index_of_this_subtask()
            def map(self, value):
                open(os.path.join(PLACE, f"busy-{self.index}"), "w").close()
                time.sleep(60)
                return value
            def close(self):
                open(os.path.join(PLACE, f"closed-{self.index}"), "w").close()

        PLACE = os.path.dirname(os.path.abspath(__file__))
        env = make_env(2)
        env.from_sequence(1, 100).map(Busy()).add_sink(lambda n: None)
        client = env.execute_async("busy")
        while not all(os.path.exists(os.path.join(PLACE, f"busy-{n}")) for n in (0, 1)):
            time.sleep(0.05)
        client.cancel().result()
        closed = sorted(name for name in os.listdir(PLACE) if name.startswith("closed"))
        print(json.dumps([client.get_job_status().result().name, closed]))
        """,
    )
    assert result(answer) == ["CANCELED", ["closed-0", "closed-1"]]
