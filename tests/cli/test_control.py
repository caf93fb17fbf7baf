"""The commands for running jobs and for checkpoints, on jobs in this process."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spry.cli.main import main
from spry.common.job_client import JobClient
from spry.common.job_registry import RunningJob, ask, run_directory, running_jobs
from spry.datastream import KeyedProcessFunction, SourceFunction, StreamExecutionEnvironment
from spry.datastream.state import ListStateDescriptor, ValueStateDescriptor
from tests.in_process_spark import in_process
from tests.local_job import new_environment


class Ticks(SourceFunction):
    def __init__(self) -> None:
        self.running = True

    def run(self, ctx: Any) -> None:
        number = 0
        while self.running:
            if number < 100:
                ctx.collect(number)
                number += 1
            else:
                time.sleep(0.005)

    def cancel(self) -> None:
        self.running = False


@dataclass
class Total:
    numbers: int
    sum: int


class Totals(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        descriptor = ValueStateDescriptor("total")
        descriptor.set_queryable("totals")
        self.total = runtime_context.get_state(descriptor)
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen"))

    def process_element(self, value: int, ctx: Any) -> None:
        known = self.total.value() or Total(0, 0)
        self.total.update(Total(known.numbers + 1, known.sum + value))
        self.seen.add(value)


def environment(**options: str) -> StreamExecutionEnvironment:
    env = new_environment(1)
    for key, value in {"spry.progress": "none", "queryable-state.enable": "true", **options}.items():
        env.get_configuration().set_string(key, value)
    return env


def started(name: str, **options: str) -> JobClient:
    env = environment(**options)
    env.add_source(Ticks()).uid("ticks").key_by(lambda n: ("even", "odd")[n % 2]).process(Totals()).name("totals").uid(
        "totals-1"
    )
    return env.execute_async(name)


@pytest.fixture
def clients() -> Iterator[list[JobClient]]:
    made: list[JobClient] = []
    with in_process():
        yield made
        for client in made:
            if not client.get_job_status().result().is_terminal_state():
                client.cancel().result(10)


@pytest.fixture
def client(clients: list[JobClient]) -> JobClient:
    clients.append(started("totals job"))
    deadline = time.monotonic() + 20
    while clients[0].get_job_status().result().name != "RUNNING":
        assert time.monotonic() < deadline
        time.sleep(0.005)
    while clients[0].query_state("totals", "odd").result(10) != Total(50, 2500):
        assert time.monotonic() < deadline
    return clients[0]


def spry(capsys: Any, *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return code, said.out, said.err


def test_list(clients: list[JobClient], capsys: Any, tmp_path: Path) -> None:
    assert spry(capsys, "list") == (0, "no jobs are running on this machine\n", "")
    options = {"execution.checkpointing.interval": "20 ms", "execution.checkpointing.dir": str(tmp_path)}
    clients.extend([started("one"), started("two", **options)])
    deadline = time.monotonic() + 20
    while "last checkpoint" not in (out := spry(capsys, "list")[1]):
        assert time.monotonic() < deadline
    lines = out.splitlines()
    assert lines[0].startswith(str(clients[0].get_job_id())) and lines[0].endswith(f"process {os.getpid()}  one")
    assert "RUNNING" in lines[0] and lines[1].endswith("two")
    assert f"last checkpoint: {tmp_path}/{clients[1].get_job_id()}/chk-" in lines[2]
    clients[0].cancel().result(10)
    assert [job.name for job in running_jobs()] == ["two"]


@pytest.mark.parametrize("by", ["id", "prefix", "name"])
def test_jobs_are_named_by_id_or_name(client: JobClient, capsys: Any, by: str) -> None:
    job_id = str(client.get_job_id())
    name = {"id": job_id, "prefix": job_id[:6], "name": "totals job"}[by]
    assert spry(capsys, "query", name, "totals", "odd") == (0, "Total(numbers=50, sum=2500)\n", "")
    assert spry(capsys, "cancel", name) == (0, f"Cancelled job {job_id} (totals job)\n", "")
    code, out, err = spry(capsys, "cancel", name)
    assert (code, out) == (1, "")
    assert err == f"spry: there is no running job '{name}' (none is running on this machine)\n"


def test_a_name_of_several_jobs(clients: list[JobClient], capsys: Any) -> None:
    clients.extend([started("twin"), started("twin")])
    code, _, err = spry(capsys, "cancel", "twin")
    assert code == 1 and "'twin' is more than one job: " in err
    assert all(str(client.get_job_id()) in err for client in clients)


@pytest.mark.parametrize(
    ("key", "answer"),
    [("odd", "Total(numbers=50, sum=2500)"), ("'even'", "Total(numbers=50, sum=2450)"), ("('no', 1)", "None")],
)
def test_query(client: JobClient, capsys: Any, key: str, answer: str) -> None:
    assert spry(capsys, "query", "totals job", "totals", key) == (0, f"{answer}\n", "")


def test_queries_that_have_no_answer(client: JobClient, capsys: Any) -> None:
    code, _, err = spry(capsys, "query", "totals job", "other", "odd")
    assert code == 1 and err == "spry: the job has no queryable state 'other'\n"
    code, _, err = spry(capsys, "query", "totals job", "totals", "[1, 2]")
    assert code == 1 and "cannot be hashed" in err
    assert client.get_job_status().result().name == "RUNNING"


def test_savepoint_stop_and_state(
    client: JobClient, capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = spry(capsys, "savepoint", "totals job")
    assert code == 1 and err.startswith("spry: no directory for the savepoint: name one")
    monkeypatch.chdir(tmp_path)
    code, out, err = spry(capsys, "savepoint", "totals job", "saved")
    assert code == 0 and out.startswith(f"{tmp_path}/saved/savepoint-") and Path(out.strip()).is_dir()
    code, out, err = spry(capsys, "stop", "totals job", "-p", f"file:{tmp_path}/urls", "--native")
    assert code == 0 and out.startswith(f"file:{tmp_path}/urls/savepoint-")
    assert client.get_job_status().result().name == "FINISHED"
    path = out.strip()

    code, out, err = spry(capsys, "state", "ls", path)
    assert code == 0 and err == ""
    assert f"Savepoint 2 of job {client.get_job_id()} (totals job), {path}" in out
    assert "totals  uid totals-1, parallelism 1 of at most 128" in out
    assert "total  (value)  2 keys" in out and "seen  (list)  2 keys" in out
    assert "Total" not in out.replace("Totals", "")

    code, out, err = spry(capsys, "state", "cat", path, "--operator", "totals", "--state", "total")
    assert code == 0 and "'odd' -> " in out and "2500" in out and "seen" not in out
    code, out, err = spry(capsys, "state", "cat", path, "--operator", "totals-1", "--limit", "1")
    assert code == 0 and out.count(" -> ") == 2 and out.count("...") == 2

    [file] = (tmp_path / "urls").glob("*/slot-*")
    file.write_bytes(file.read_bytes()[:50])
    code, out, err = spry(capsys, "state", "ls", path)
    assert code == 1 and "is corrupt" in err
    file.unlink()
    code, out, err = spry(capsys, "state", "cat", path)
    assert code == 1 and "is missing" in err


def test_what_is_no_checkpoint(capsys: Any, tmp_path: Path) -> None:
    code, _, err = spry(capsys, "state", "ls", str(tmp_path))
    assert code == 1 and err.startswith(f"spry: there is no checkpoint in {tmp_path}: name a savepoint's directory")
    code, _, err = spry(capsys, "state", "ls", "nosuch://x")
    assert code == 1 and "'nosuch://x' cannot be opened" in err


def test_operators_that_are_not_there(client: JobClient, capsys: Any, tmp_path: Path) -> None:
    path = client.stop_with_savepoint(False, str(tmp_path)).result(10)
    code, _, err = spry(capsys, "state", "ls", path, "--operator", "nobody")
    assert code == 1 and "no operator 'nobody'" in err and "totals" in err


def test_processes_that_are_gone(capsys: Any, tmp_path: Path) -> None:
    """Their numbers may belong to others now: whether somebody listens is what counts."""
    path = tmp_path / "gone.sock"
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(path))
    for number, place in enumerate((path, tmp_path / "never.sock")):
        job = RunningJob(f"job{number}", "gone", os.getpid(), str(place), 0.0)
        (run_directory() / f"job{number}.json").write_text(job.to_json())
    (run_directory() / "broken.json").write_text("{")
    (run_directory() / "other.json").write_text(json.dumps({"a": 1}))
    assert spry(capsys, "list") == (0, "no jobs are running on this machine\n", "")
    assert not list(run_directory().glob("job*.json"))
    for name in ("broken", "other"):
        (run_directory() / f"{name}.json").unlink()


def test_a_process_that_does_not_answer(capsys: Any, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(str(tmp_path / "deaf.sock"))
        deaf.listen(4)
        job = RunningJob("deaf", "deaf", os.getpid(), str(tmp_path / "deaf.sock"), 0.0)
        with pytest.raises(Exception, match="job 'deaf' does not answer"):
            ask(job, {"do": "status"}, 0.1)


def test_requests_that_make_no_sense(client: JobClient) -> None:
    [job] = running_jobs()
    with pytest.raises(Exception, match="'dance' is nothing that can be asked"):
        ask(job, {"do": "dance"})
    with pytest.raises(Exception, match="the job has ended"):
        ask(RunningJob("other", "other", job.pid, job.socket, 0.0), {"do": "cancel"})


@pytest.mark.parametrize("command", ["list", "savepoint", "stop", "cancel", "query", "state", "run"])
def test_help_has_examples(command: str, capsys: Any) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    assert "examples:\n  spry " in capsys.readouterr().out
