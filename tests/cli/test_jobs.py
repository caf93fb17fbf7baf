"""`spry run` with real jobs: failures, results, Ctrl-C, jobs that the program does not wait for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import spry
from spry.cli.main import main

ROOT = Path(spry.__file__).parents[1]
HEAD = """
from spry.common import WatermarkStrategy
from spry.connectors.datagen import DataGeneratorSource
from spry.datastream import StreamExecutionEnvironment
env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
endless = env.from_source(DataGeneratorSource(lambda i: i, None, 50), WatermarkStrategy.no_watermarks(), "endless")
"""

pytestmark = pytest.mark.spark


def write(directory: Path, text: str) -> str:
    path = directory / "prog.py"
    path.write_text(HEAD + text)
    return str(path)


def test_a_failing_job_shows_the_users_traceback_only(
    spark_context: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "def bad(n):\n    return 1 // (n - 5)\nenv.from_collection(range(9)).map(bad).print()\nenv.execute('job')\n"
    assert main(["run", write(tmp_path, text)]) == 1
    err = capfd.readouterr().err
    story = err[err.index("spry: Job 'job' failed: operator 'Map' (subtask 1/1) failed: ZeroDivisionError") :]
    assert "record: 5" in story
    assert "return 1 // (n - 5)" in story
    assert story.count("Traceback") == 1
    assert str(ROOT / "spry") not in story


def test_a_job_that_nobody_waits_for_is_waited_for(
    spark_context: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = (
        "class Box:\n    def __init__(self, n):\n        self.n = n\n"
        "env.from_collection(range(3)).map(lambda n: Box(n)).map(lambda b: b.n * 10).print()\n"
        "env.execute_async('later')\nprint('submitted')\n"
    )
    assert main(["run", write(tmp_path, text)]) == 0
    assert capfd.readouterr().out.splitlines() == ["submitted", "0", "10", "20"]


def test_its_failure_is_shown_too(spark_context: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = "endless.map(lambda n: 1 // (n - 20)).print()\nenv.execute_async('later')\n"
    assert main(["run", write(tmp_path, text)]) == 1
    assert "spry: Job 'later' failed" in capfd.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "endless.print()\nenv.execute_async('job')\n",
        "endless.print()\nenv.execute_async('job').get_job_execution_result().result()\n",
        "for n in endless.execute_and_collect('job'):\n    print(n)\n",
    ],
    ids=["program ended", "program waits", "program reads"],
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_cancel(
    spark_context: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, number: int, code: int
) -> None:
    # PySpark's own handler, which a program that starts Spark has, ends in a KeyboardInterrupt as well.
    known = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(3.0, os.kill, (os.getpid(), number))
    timer.start()
    try:
        assert main(["run", write(tmp_path, text)]) == code
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, known)
    captured = capfd.readouterr()
    assert captured.err.endswith("spry: cancelled\n")
    assert "1" in captured.out.splitlines()


@pytest.mark.slow
def test_a_process_of_its_own_with_a_spark_of_its_own(tmp_path: Path) -> None:
    text = "endless.print()\nprint('up', flush=True)\nenv.execute('job')\n"
    process = subprocess.Popen(
        [sys.executable, "-m", "spry", "run", "-D", "spry.spark.master=local[1]", write(tmp_path, text)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(20)]
        assert lines[:3] == ["up", "0", "1"]
        os.killpg(process.pid, signal.SIGINT)  # As a terminal does.
        _, err = process.communicate(timeout=30)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert process.returncode == 130
    assert err.endswith("spry: cancelled\n")
