"""The job endpoint of a process that ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import spry
from spry.common.job_registry import ask, find_job

PROGRAM = """
import threading, time
from spry.common.completable_future import CompletableFuture
from spry.common.job_id import JobID
from spry.jobmanager.endpoint import endpoint

job_id = JobID.generate()

class Client:
    asked = threading.Event()

    def get_job_id(self):
        return job_id

    def cancel(self):
        self.asked.set()
        time.sleep(0.3)
        endpoint().forget(str(job_id))
        return CompletableFuture.completed(None)

endpoint().register(Client(), "short")
print("ready", flush=True)
assert Client.asked.wait(30)
"""


def test_whoever_ends_the_last_job_of_a_process_gets_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPRY_RUN_DIR", str(tmp_path))
    home = str(Path(spry.__file__).parent.parent)
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": home}
    ) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        assert ask(find_job("short"), {"do": "cancel"}, 30) is None
        assert process.wait(30) == 0
    assert list(tmp_path.iterdir()) == [], "nothing is left behind"
