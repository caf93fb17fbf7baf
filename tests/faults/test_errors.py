"""What users read when something is wrong: their own mistake, named; and nothing of the engine around it."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from spry.common import Configuration, Types, WatermarkStrategy
from spry.common.config_options import ConfigurationError
from spry.common.errors import JobCancelledError, JobExecutionError, UnpicklableError
from spry.common.source import SplitEnumerator
from spry.datastream import (
    KeyedProcessFunction,
    MapFunction,
    SinkFunction,
    SourceFunction,
    StreamExecutionEnvironment,
)
from spry.datastream.connectors.number_seq import NumberSequenceSource
from spry.datastream.state import ValueStateDescriptor

pytestmark = pytest.mark.spark


def failing_job(env: StreamExecutionEnvironment) -> JobExecutionError:
    with pytest.raises(JobExecutionError) as caught:
        env.execute("doomed")
    return caught.value


def divide(value: int) -> float:
    return helper(value)


def helper(value: int) -> float:
    return 1 / (value - 7)


def test_a_users_exception_comes_with_their_traceback_the_operator_and_the_record(env: Any) -> None:
    env.from_sequence(1, 10).map(divide).name("dividing").print()
    error = failing_job(env)
    assert error.failure.operator == "dividing"
    assert error.failure.record == "7"
    assert error.failure.summary == "ZeroDivisionError: division by zero"
    text = str(error)
    assert "in divide" in text and "in helper" in text and "return 1 / (value - 7)" in text
    assert "spry/" not in error.failure.traceback and "pyspark" not in error.failure.traceback


def test_an_inlined_lambda_fails_with_the_users_traceback_too(env: Any) -> None:
    env.from_collection([(1,), (2, 3)]).rebalance().map(lambda r: r[1] + 1).print()
    error = failing_job(env)
    assert error.failure.record == "(1,)"
    assert "lambda r: r[1] + 1" in error.failure.traceback


def test_behind_a_shuffle_and_in_a_long_record(env: Any) -> None:
    class Explode(KeyedProcessFunction):
        def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
            raise RuntimeError("boom")
            yield

    env.from_collection([("k", "x" * 5000)]).key_by(lambda r: r[0]).process(Explode()).print()
    error = failing_job(env)
    assert error.failure.operator == "KeyedProcess"
    assert error.failure.summary == "RuntimeError: boom"
    assert (
        error.failure.record is not None and len(error.failure.record) <= 500 and error.failure.record.endswith("...")
    )


class Tracked(MapFunction):
    """Notes its life in a file, as it runs in another process."""

    def __init__(self, path: str, fail_in: str = "") -> None:
        self.path = path
        self.fail_in = fail_in

    def note(self, what: str) -> None:
        with open(self.path, "a") as file:
            file.write(what + "\n")
        if what == self.fail_in:
            raise ValueError(f"in {what}")

    def open(self, runtime_context: Any) -> None:
        self.note("open")

    def map(self, value: Any) -> Any:
        self.note("map")
        return value

    def close(self) -> None:
        self.note("close")


@pytest.mark.parametrize("fail_in", ["", "open", "map", "close"])
def test_open_and_close_are_called_once_whatever_happens(make_env: Any, tmp_path: Any, fail_in: str) -> None:
    path = tmp_path / "life.txt"
    env = make_env(1)
    env.from_collection([1, 2]).map(Tracked(str(path), fail_in)).name("tracked").add_sink(lambda value: None)
    if fail_in:
        error = failing_job(env)
        assert error.failure.operator == "tracked"
        assert f"in {fail_in}" in error.failure.summary
    else:
        env.execute()
    life = path.read_text().split()
    assert life.count("open") == 1 and life.count("close") == 1 and life[-1] == "close"


def test_an_unpicklable_function_is_named_with_what_it_holds(env: Any) -> None:
    lock = threading.Lock()
    env.from_collection([1]).map(lambda v: (v, lock)).name("locked").print()
    with pytest.raises(UnpicklableError, match=r"operator 'locked' cannot be sent.*'lock'.*open\(\)"):
        env.execute()


def test_an_unpicklable_record_is_named(make_env: Any) -> None:
    env = make_env(2)
    env.from_collection([1, 2]).map(lambda v: __import__("threading").Lock()).rebalance().map(lambda v: v).print()
    assert "cannot be pickled" in str(failing_job(env))


class Plain:
    """Has only identity."""


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (lambda v: [v], r"list.*cannot be hashed.*tuple"),
        (lambda v: Plain(), r"hashed by identity.*frozen dataclass"),
        (lambda v: float("nan"), r"not equal to itself"),
        (lambda v: {"a": v}, r"dict.*cannot be hashed"),
    ],
)
@pytest.mark.parametrize("parallelism", [1, 2])
def test_bad_keys(make_env: Any, selector: Any, message: str, parallelism: int) -> None:
    env = make_env(parallelism)
    env.from_collection([1, 2]).map(lambda v: v).key_by(selector).reduce(lambda a, b: a).print()
    error = failing_job(env)
    assert error.failure.summary.startswith("InvalidKeyError")
    assert re.search(message, str(error), re.DOTALL), str(error)


def test_a_declared_type_is_enforced_where_it_is_declared(env: Any) -> None:
    declared = Types.TUPLE([Types.STRING(), Types.INT()])
    env.from_collection([1, 2]).map(lambda v: ("a", "b" if v == 2 else v), declared).name("typed").print()
    error = failing_job(env)
    assert error.failure.operator == "typed"
    assert "f1" in str(error) and "'b'" in str(error)


def test_a_slot_process_that_dies_fails_the_job(make_env: Any) -> None:
    env = make_env(2)
    env.from_sequence(1, 1000).map(lambda n: os.kill(os.getpid(), signal.SIGKILL) if n == 500 else n).print()
    error = failing_job(env)
    assert error.failure.slot_lost
    assert re.search(r"the process of slot 0 \(with 'Source: Sequence Source -> Map -> .*' 1/2\) died", str(error))
    assert "pyspark" not in str(error) and "stage" not in str(error)
    # The application goes on.
    assert sorted(make_env(2).from_collection([1, 2]).map(lambda v: v + 1).execute_and_collect()) == [2, 3]


def test_missing_file_and_refused_socket(make_env: Any, tmp_path: Any) -> None:
    with pytest.raises(Exception, match=r"nowhere\.txt"):
        make_env().read_text_file(str(tmp_path / "nowhere.txt"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = make_env(1)
    env.socket_text_stream("127.0.0.1", port).print()
    assert f"127.0.0.1:{port}" in str(failing_job(env))


def test_bad_options_name_the_nearest_valid_ones() -> None:
    configuration = Configuration()
    configuration.set_string("paralelism.default", "2")
    with pytest.raises(ConfigurationError, match=r"parallelism\.default"):
        StreamExecutionEnvironment.get_execution_environment(configuration)
    configuration = Configuration()
    configuration.set_string("execution.runtime-mode", "bach")
    with pytest.raises(ConfigurationError, match=r"(?i)batch"):
        StreamExecutionEnvironment.get_execution_environment(configuration)


SPARK_GOES = """
import os, signal, time
from pyspark import SparkContext
from spry.common import Configuration
from spry.datastream import StreamExecutionEnvironment

def start():
    configuration = Configuration()
    configuration.set_string("spark.master", "local[2]")
    configuration.set_string("spry.progress", "none")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.from_sequence(1, 10**12).key_by(lambda n: n % 7).reduce(max).add_sink(lambda n: None)
    client = env.execute_async("running")
    while client.get_job_status().result().name != "RUNNING":
        time.sleep(0.01)
    return client

def end(client):
    try:
        client.get_job_execution_result().result(30)
    except Exception as error:
        print(client.get_job_status().result().name, type(error).__name__, error)

client = start()
SparkContext._active_spark_context.stop()
end(client)
client = start()
os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
end(client)
try:
    start()
except Exception as error:
    print(type(error).__name__, error)
"""


def test_spark_that_stops_or_dies_under_a_job(tmp_path: Any) -> None:
    program = tmp_path / "program.py"
    program.write_text(SPARK_GOES)
    answer = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path
    )
    assert answer.stdout.count("\n") == 3, answer.stdout + answer.stderr
    stopped, died, again = answer.stdout.splitlines()
    assert stopped.startswith("FAILED JobExecutionError Job 'running' failed: Spark was stopped"), stopped
    assert died.startswith("FAILED JobExecutionError Job 'running' failed: Spark's Java process is gone"), died
    assert again.startswith("JobSubmissionError the Spark application of this program is gone"), again
    assert "Exception in thread" not in answer.stderr


class Endless(SourceFunction):
    def __init__(self) -> None:
        self.running = True

    def run(self, ctx: Any) -> None:
        number = 0
        while self.running:
            ctx.collect(number)
            number += 1
            time.sleep(0.001)

    def cancel(self) -> None:
        self.running = False


class CloseNoted(SinkFunction):
    def __init__(self, path: str) -> None:
        self.path = path

    def invoke(self, value: Any, context: Any) -> None:
        pass

    def close(self) -> None:
        with open(self.path, "a") as file:
            file.write("closed")


def wait_until_running(client: Any) -> None:
    deadline = time.monotonic() + 30
    while client.get_job_status().result().name != "RUNNING":
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_cancel_takes_about_a_second_and_closes_functions(make_env: Any, tmp_path: Any) -> None:
    env = make_env(2)
    env.add_source(Endless()).map(lambda v: v).add_sink(CloseNoted(str(tmp_path / "closed")))
    client = env.execute_async("endless")
    wait_until_running(client)
    time.sleep(0.5)
    client.cancel().result(10)
    assert client.get_job_status().result().name == "CANCELED"
    assert set(client.get_execution_states().values()) == {"CANCELED"}
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result(1)
    assert (tmp_path / "closed").read_text() == "closed" * 2


def spin(value: Any) -> Any:
    while True:
        value += 1


def never_let_go(value: Any) -> Any:
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(600)


@pytest.mark.parametrize("hang", [lambda value: time.sleep(600), spin], ids=["sleep", "spin"])
def test_cancel_interrupts_functions_and_closes_them(make_env: Any, tmp_path: Any, hang: Any) -> None:
    path = tmp_path / "closed"
    env = make_env(2)
    env.from_sequence(1, 100).map(hang).add_sink(CloseNoted(str(path)))
    client = env.execute_async()
    wait_until_running(client)
    time.sleep(0.3)
    started = time.monotonic()
    client.cancel().result(20)
    assert time.monotonic() - started < 1.5
    assert client.get_job_status().result().name == "CANCELED"
    assert path.read_text() == "closed" * 2


def test_cancel_breaks_off_what_cannot_be_interrupted(make_env: Any) -> None:
    env = make_env(1)
    env.from_collection([1]).map(never_let_go).print()
    client = env.execute_async()
    wait_until_running(client)
    time.sleep(0.3)
    client.cancel().result(20)
    assert client.get_job_status().result().name == "CANCELED"


class OpensForEver(MapFunction):
    def __init__(self, path: str) -> None:
        self.path = path

    def open(self, runtime_context: Any) -> None:
        if runtime_context.get_index_of_this_subtask() == 1:
            time.sleep(600)

    def map(self, value: Any) -> Any:
        return value

    def close(self) -> None:
        with open(self.path, "a") as file:
            file.write("closed ")


def test_cancel_while_functions_open(make_env: Any, tmp_path: Any) -> None:
    env = make_env(2)
    env.from_sequence(1, 100).map(OpensForEver(str(tmp_path / "closed"))).print()
    client = env.execute_async()
    time.sleep(1.5)
    started = time.monotonic()
    client.cancel().result(20)
    assert time.monotonic() - started < 1.5
    assert client.get_job_status().result().name == "CANCELED"
    assert "closed" in (tmp_path / "closed").read_text(), "the one that was open is closed"


def test_several_jobs_at_once(make_env: Any) -> None:
    clients = []
    for number in range(3):
        env = make_env(2)
        stream = env.from_sequence(1, 20_000).map(lambda n, k=number: (n % 10, k)).key_by(lambda r: r[0])
        stream.process(Keep()).add_sink(lambda value: None)
        clients.append(env.execute_async(f"job {number}"))
    for client in clients:
        result = client.get_job_execution_result().result(60)
        assert result.get_accumulator_result("kept") == 20_000


class Keep(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.kept = runtime_context.get_long_counter("kept")
        self.last = runtime_context.get_state(ValueStateDescriptor("last"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        self.kept.add(1)
        self.last.update(value)
        return None


def test_a_source_function_that_fails(env: Any) -> None:
    class Broken(SourceFunction):
        def run(self, ctx: Any) -> None:
            ctx.collect(1)
            raise OSError("the well is dry")

        def cancel(self) -> None:
            pass

    env.add_source(Broken(), "well").print()
    error = failing_job(env)
    assert "the well is dry" in str(error)
    assert error.failure.operator == "Source: well"


class BrokenEnumerator(SplitEnumerator[Any, Any]):
    def start(self) -> None:
        raise LookupError("no splits to be found")

    def handle_split_request(self, subtask: int, host: str | None = None) -> None:
        pass

    def add_splits_back(self, splits: Any, subtask: int) -> None:
        pass

    def add_reader(self, subtask: int) -> None:
        pass

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return None


class BrokenSource(NumberSequenceSource):
    def create_enumerator(self, context: Any) -> Any:
        return BrokenEnumerator()


def test_an_enumerator_that_fails(env: Any) -> None:
    env.from_source(BrokenSource(1, 5), WatermarkStrategy.no_watermarks(), "broken").print()
    error = failing_job(env)
    assert error.failure.operator == "Source: broken"
    assert error.failure.summary == "LookupError: no splits to be found"
    assert 'raise LookupError("no splits to be found")' in error.failure.traceback
    assert "spry/" not in error.failure.traceback


def test_nothing_to_execute(env: Any) -> None:
    with pytest.raises(ValueError, match="nothing to execute"):
        env.execute()
