"""The programs of the reports: what they look at, and that they see growth when there is some."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench import reports
from bench.harness import Settings, run_report, run_workload
from bench.model import Report
from bench.processes import disk_usage, open_files, peak_rss, rss, slot_pids, threads
from bench.registry import load
from bench.workloads.epoch_cost import run as epoch_cost
from bench.workloads.first_result import run as first_result
from bench.workloads.shuffle_memory import run as shuffle_memory
from bench.workloads.soak import run as soak

linux_only = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="reads /proc")


def settings(**options: Any) -> Settings:
    return Settings(say=lambda _: None, **{"spry": False, "runs": 1, **options})


# The loops


def test_the_loops_of_keyed_count_agree() -> None:
    outcome = run_workload(load()["keyed-count"], settings(peers=("loop", "least", "calls"), records=200_500))
    assert outcome.rates.keys() == {"loop", "least", "calls"}


def test_the_loops_of_word_count_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.harness.DATA", tmp_path)
    outcome = run_workload(load()["word-count"], settings(peers=("loop", "least"), records=20_000))
    assert outcome.rates.keys() == {"loop", "least"}


# What the operating system says


@linux_only
def test_memory_threads_and_open_files_of_a_process(tmp_path: Path) -> None:
    me = os.getpid()
    assert 5 < rss(me) <= peak_rss(me)
    assert threads(me) >= 1
    before = open_files(me)
    with open(tmp_path / "file", "w"):
        assert open_files(me) == before + 1
    assert open_files(me) == before


@linux_only
def test_a_process_that_is_gone_has_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert (rss(process.pid), threads(process.pid), open_files(process.pid)) == (0, 0, 0)


@linux_only
def test_slots_are_what_the_daemons_of_a_jvm_started() -> None:
    daemon = "import subprocess, sys; p = subprocess.Popen(['sleep', '30']); print(p.pid, flush=True); sys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", daemon], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    try:
        found = slot_pids(os.getpid())
        assert worker in found and process.pid not in found
    finally:
        os.kill(worker, 9)
        process.communicate()


def test_disk_usage_counts_files_at_every_depth(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "one").write_bytes(b"x" * 10)
    (tmp_path / "a" / "b" / "two").write_bytes(b"x" * 5)
    assert disk_usage(str(tmp_path)) == (2, 15)


# Growth


def samples(**series: list[float]) -> list[dict[str, float]]:
    count = len(next(iter(series.values())))
    return [
        {name: series[name][i] if name in series else 10.0 for name in soak.COLUMNS} | {"epoch": 500 * (i + 1)}
        for i in range(count)
    ]


def test_what_comes_and_goes_is_not_growth() -> None:
    assert soak.grown(samples(heap_mb=[50, 90, 50, 90, 50, 90, 50, 90, 50])) == []


@pytest.mark.parametrize("name", soak.ALLOWED)
def test_a_steady_rise_is_growth_whatever_rises(name: str) -> None:
    (found,) = soak.grown(samples(**{name: [100.0 * (i + 1) for i in range(10)]}))
    assert found.startswith(f"{soak.COLUMNS[name]}: at most 300.0 at first, at least 800.0")


def test_objects_that_epochs_leave_behind_are_named() -> None:
    first, last = {"A": 100, "B": 100, "C": 50_000}, {"A": 11_000, "B": 4_000, "C": 40, "D": 6_000}
    assert soak.hoarded([first, last], 20_000) == {"A": 10_900, "D": 6_000}
    assert soak.hoarded([{"A": 0}, {"A": 900}], 100) == {}


def test_objects_that_come_and_go_are_not_left_behind() -> None:
    looks = [{"A": count} for count in (0, 9_000, 100, 8_000, 300, 9_500, 0, 9_000, 500)]
    assert soak.hoarded(looks, 100) == {}


# Programs


def test_a_report_is_given_the_options_that_it_takes() -> None:
    report = Report("sample", "a sample", "tests.bench.report_program", arguments=("--quick",), options=("epochs",))
    outcome = run_report(report, settings(epochs=7, records=3))
    assert outcome.notes == ["given ['--quick', '--epochs', '7']"]


def test_figures_and_details_are_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    reports.publish(columns=["a"], rows=[["1"]], load_before=0.5, figures={"x": 1.5}, details={"samples": [1, 2]})
    printed = json.loads(capsys.readouterr().out)
    assert printed["figures"] == {"x": 1.5}
    assert printed["details"] == {"samples": [1, 2]}
    assert printed["notes"][-1].startswith("load average (1 minute) 0.5 before")


def test_a_target_is_kept_up_to_and_at_its_limit() -> None:
    assert [reports.verdict(value, 10.0) for value in (9.9, 10.0, 10.1)] == ["met", "met", "MISSED"]


def test_a_program_is_timed_from_outside() -> None:
    code = (
        "import sys, time; print('Spark 4.3.0 started at local[*] in 1.5 s', file=sys.stderr);"
        "time.sleep(0.2); print('first', flush=True); time.sleep(0.2)"
    )
    started = time.perf_counter()
    found = first_result.time_program(("-c", code))
    assert found["spark"] == 1.5
    assert found["first"] >= 0.2 and found["first"] + 0.2 <= found["end"] <= time.perf_counter() - started


def test_a_program_that_fails_is_shown() -> None:
    with pytest.raises(RuntimeError, match=r"exit code 1(.|\n)*ZeroDivisionError"):
        first_result.time_program(("-c", "print(1 / 0)"))


def test_the_state_of_epoch_cost_has_a_million_keys() -> None:
    share = 9
    expand = epoch_cost.Expand(share, slots=2)
    keys = {key for index in range(2 * share) if index % share < epoch_cost.STATE_EPOCHS for key in expand(index)}
    assert len(keys) == epoch_cost.STATE_ENTRIES
    assert list(expand(share - 1)) == [share - 1]


def test_records_of_shuffle_memory_take_about_200_bytes() -> None:
    from spry.runtime.blocks import BlockEncoder

    values = [shuffle_memory.record(index) for index in range(1000)]
    assert 195 <= len(BlockEncoder().encode(0, 0, 0, values, None, [])) / 1000 <= 205


@pytest.mark.spark
@pytest.mark.parametrize(("slots", "levels"), [(2, 1), (2, 2), (3, 2)])
def test_every_epoch_of_epoch_cost_reads_a_record_per_slot(spark_context: Any, slots: int, levels: int) -> None:
    median, mean = epoch_cost.spry(slots, levels)(12)
    assert 0 < median < 5 and 0 < mean < 10


@pytest.mark.spark
def test_the_jvms_own_jobs_have_the_stages_that_they_should_have(spark_context: Any) -> None:
    tracker = spark_context._jsc.sc().statusStore()
    for stages in (1, 2):
        before = tracker.jobsList(None).size()
        epoch_cost.jvm(spark_context, 3, stages)(1)
        jobs = tracker.jobsList(None)
        assert jobs.size() == before + 1
        assert jobs.head().stageIds().size() == stages
        assert jobs.head().numTasks() == 3 * stages
