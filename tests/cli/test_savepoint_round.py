"""A detached program is saved, stopped, looked at and gone on from, all from the command line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import spry as spry_package

PROGRAM = """
import sys
import time
from spry.datastream import KeyedProcessFunction, ListCheckpointed, SourceFunction, StreamExecutionEnvironment
from spry.datastream.state import ValueStateDescriptor


class Numbers(SourceFunction, ListCheckpointed):
    def __init__(self, end):
        self.next, self.end, self.running = 0, end, True

    def run(self, ctx):
        while self.running and self.next != self.end:
            with ctx.get_checkpoint_lock():
                ctx.collect(self.next)
                self.next += 1
            if self.next == 1000 and self.end < 0:
                while self.running:
                    time.sleep(0.01)

    def cancel(self):
        self.running = False

    def snapshot_state(self, checkpoint_id, timestamp):
        return [self.next]

    def restore_state(self, state):
        [self.next] = state


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        descriptor = ValueStateDescriptor("count", None, 0)
        descriptor.set_queryable("counts")
        self.count = runtime_context.get_state(descriptor)

    def process_element(self, value, ctx):
        self.count.update(self.count.value() + 1)
        if self.count.value() % 500 == 0:
            yield ctx.get_current_key(), self.count.value()


env = StreamExecutionEnvironment.get_execution_environment()
counts = env.add_source(Numbers(int(sys.argv[1]))).uid("numbers").key_by(lambda n: n % 2).process(Count()).uid("count")
counts.print()
env.execute("counting")
"""


@pytest.mark.spark
@pytest.mark.slow
def test_a_round(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(PROGRAM)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(spry_package.__file__).parent.parent),
        "SPRY_RUN_DIR": str(tmp_path / "run"),
        "SPRY_LOG_DIR": str(tmp_path / "logs"),
    }

    def spry(*words: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "spry", *words]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path, env=environment
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if code == 0 else done.stderr

    local = ("-D", "spark.master=local[2]", "--progress", "none", "-p", "1")
    started = spry("run", "-d", *local, "-D", "queryable-state.enable=true", "job.py", "-1")
    [log] = re.findall(r"log (\S+)$", started, re.MULTILINE)
    deadline = time.monotonic() + 90
    while not re.search(r"RUNNING .*counting", spry("list")):
        assert time.monotonic() < deadline, Path(log).read_text()
        time.sleep(0.5)
    while spry("query", "counting", "counts", "1") != "500\n":
        assert time.monotonic() < deadline, Path(log).read_text()
    assert "no queryable state 'sums'" in spry("query", "counting", "sums", "1", code=1)

    first = spry("savepoint", "counting", "saved").strip()
    path = spry("stop", "counting", "--savepoint-path", "saved").strip()
    assert Path(first).parent == Path(path).parent == tmp_path / "saved"
    assert "no running job 'counting'" in spry("stop", "counting", code=1)
    assert spry("list") == "no jobs are running on this machine\n"

    shown = spry("state", "cat", path, "--operator", "count")
    assert "0 -> 500" in shown and "1 -> 500" in shown
    assert sorted(spry("run", "-s", path, *local, "job.py", "2000").split()) == ["(0,", "(1,", "1000)", "1000)"]
