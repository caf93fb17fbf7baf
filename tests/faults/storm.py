"""Kills, one after the other, while the program of ``pipeline.py`` runs: what it writes must be what it writes without.

``python -m tests.faults.storm --kills 100`` goes through all kinds of faults; every round is one job with a seed of its
own, which is printed, so that a round that fails can be run again: ``--seed 7 --kind slot --kills 10``.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from spry.common.configuration import Configuration
from spry.datastream import StreamExecutionEnvironment
from tests.faults.pipeline import build, expected_lines, read_lines
from tests.faults.processes import executor_processes, kill, slot_processes

__all__ = ["Round", "kill_drivers", "kill_in_process", "options"]

_ROOT = Path(__file__).resolve().parents[2]


def options(**more: str) -> dict[str, str]:
    """Settings under which jobs survive many faults quickly."""
    return {
        "spry.progress": "none",
        "parallelism.default": "2",
        "execution.checkpointing.interval": "150 ms",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "1000000",
        "restart-strategy.fixed-delay.delay": "20 ms",
        "spry.epoch.max-records": "1500",
        **more,
    }


@dataclass
class Round:
    """One job, and what was done to it."""

    seed: int
    records: int
    directory: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="spry-faults-")))
    kills: int = 0

    @property
    def out(self) -> Path:
        return self.directory / "out"

    @property
    def checkpoints(self) -> Path:
        return self.directory / "checkpoints"

    def check(self) -> None:
        """Raise if the lines that can be seen are not those that should be."""
        seen, expected = read_lines(self.out), expected_lines(self.records)
        lost, extra = expected - seen, seen - expected
        assert not lost and not extra, (
            f"seed {self.seed}, {self.kills} kills: {_count(lost)} lines are lost, such as {_some(lost)}; "
            f"{_count(extra)} are too many, such as {_some(extra)}"
        )

    def remove(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)


def _count(lines: Counter[str]) -> int:
    return sum(lines.values())


def _some(lines: Counter[str]) -> list[str]:
    return list(lines)[:3]


def kill_in_process(
    round_: Round,
    env: StreamExecutionEnvironment,
    victims: Callable[[], list[int]],
    kills: int,
    pauses: tuple[float, float] = (0.2, 2.0),
) -> None:
    """Run the program here, and kill one of the victims again and again until so many have died."""
    env.get_configuration().set_string("execution.checkpointing.dir", str(round_.checkpoints))
    build(env, round_.records, round_.out)
    chance, done = random.Random(round_.seed), threading.Event()

    def storm() -> None:
        while round_.kills < kills and not done.wait(chance.uniform(*pauses)):
            found = victims()
            if found and kill(chance.choice(found)):
                round_.kills += 1

    client = env.execute_async(f"faults {round_.seed}")
    killer = threading.Thread(target=storm, daemon=True)
    killer.start()
    try:
        client.get_job_execution_result().result(600)
    finally:
        done.set()
        killer.join()


def kill_drivers(round_: Round, kills: int, settings: dict[str, str], pauses: tuple[float, float] = (0.0, 1.5)) -> None:
    """Run the program in a process of its own; kill it, Java and all, and submit it again from its last checkpoint."""
    chance = random.Random(round_.seed)
    while True:
        command = [sys.executable, "-m", "tests.faults.pipeline", "--out", str(round_.out)]
        command += ["--checkpoints", str(round_.checkpoints), "--records", str(round_.records)]
        for key, value in settings.items():
            command += ["-D", f"{key}={value}"]
        newest = newest_job(round_.checkpoints)
        if newest is not None:
            command += ["--go-on-from", str(newest)]
        environment = {**os.environ, "PYTHONPATH": str(_ROOT)}
        log = round_.directory / f"driver-{round_.kills}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, cwd=_ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
            )
        try:
            if round_.kills >= kills:
                assert process.wait(300) == 0, log.read_text(errors="replace")[-3000:]
                return
            _wait_for_progress(process, round_.checkpoints, newest)
            time.sleep(chance.uniform(*pauses))
        finally:
            ended = process.poll()
            if ended is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                round_.kills += 1
        if ended is not None:
            assert ended == 0, log.read_text(errors="replace")[-3000:]
            return  # It was quicker than its killer.


def newest_job(checkpoints: Path) -> Path | None:
    """The directory of the job that has completed a checkpoint last."""
    found = list(checkpoints.glob("*/chk-*/_metadata"))
    return max(found, key=lambda path: path.stat().st_mtime).parent.parent if found else None


def _wait_for_progress(process: subprocess.Popen[bytes], checkpoints: Path, known: Path | None) -> None:
    """Until the job has a checkpoint of its own, or has ended."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if newest_job(checkpoints) != known:
            return
        time.sleep(0.05)


# By hand


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="in all")
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    parser.add_argument("--kind", choices=["slot", "executor", "driver", "all"], default="all")
    parser.add_argument("--records", type=int, default=150_000)
    parser.add_argument("-D", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()
    more = dict(setting.split("=", 1) for setting in arguments.settings)
    seed, total = arguments.seed, 0
    shares = {"slot": 0.7, "executor": 0.15, "driver": 0.15}
    wanted = {kind: share for kind, share in shares.items() if arguments.kind in (kind, "all")}
    for kind, share in wanted.items():
        goal, killed = max(1, round(arguments.kills * share / sum(wanted.values()))), 0
        while killed < goal:
            round_ = Round(seed, arguments.records)
            started = time.monotonic()
            _ROUNDS[kind](round_, min(10, goal - killed), more)
            round_.check()
            killed += round_.kills
            seconds = time.monotonic() - started
            print(
                f"{kind}, seed {seed}: {round_.kills} kills, {seconds:.0f} s, nothing lost, nothing twice", flush=True
            )
            round_.remove()
            seed += 1
        total += killed
    print(f"{total} kills in all: every run gave what it gives without faults")


def _slots(round_: Round, kills: int, more: dict[str, str]) -> None:
    env = _environment({"spark.master": "local[2]", **more})
    kill_in_process(round_, env, lambda: slot_processes(os.getpid()), kills)


def _executors(round_: Round, kills: int, more: dict[str, str]) -> None:
    from pyspark import SparkContext

    from tests.standalone import StandaloneCluster

    active = SparkContext._active_spark_context
    if active is not None:
        active.stop()
    cluster = StandaloneCluster(workers=2, cores=1).start()
    try:
        env = _environment({"spark.master": cluster.url, "spark.executor.memory": "512m", **more})
        kill_in_process(round_, env, lambda: executor_processes(os.getpid()), kills, (2.0, 6.0))
    finally:
        active = SparkContext._active_spark_context
        if active is not None:
            active.stop()
        cluster.stop()


def _drivers(round_: Round, kills: int, more: dict[str, str]) -> None:
    kill_drivers(round_, kills, options(**{"spark.master": "local[2]", **more}))


_ROUNDS: dict[str, Callable[[Round, int, dict[str, str]], None]] = {
    "slot": _slots,
    "executor": _executors,
    "driver": _drivers,
}


def _environment(more: dict[str, str]) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options(**more)))


if __name__ == "__main__":
    main()
