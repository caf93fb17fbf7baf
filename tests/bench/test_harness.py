"""The harness: figures from programs, agreement between engines, and errors that say what failed."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench import peers
from bench.harness import (
    BenchError,
    Measurement,
    Settings,
    run_report,
    run_workload,
    selected_engines,
    summarise,
)
from bench.model import Engine, Report, Workload
from bench.registry import load
from bench.tables import as_markdown, as_text, results_page

LOOP = Engine("loop", "bench.workloads.chain.run_loop", records=20_000, measured="the loop")
INLINE = Engine("inline", "bench.workloads.chain.run_inline", records=10_000, measured="the loop, inline")


def workload(*engines: Engine, **options) -> Workload:
    return Workload("sample", "a sample", engines, **options)


def settings(**options) -> Settings:
    return Settings(say=lambda _: None, **{"spry": False, "runs": 1, **options})


def test_engines_of_different_sizes_are_each_held_against_the_reference():
    outcome = run_workload(workload(LOOP, INLINE), settings(runs=2))
    assert outcome.rates.keys() == {"loop", "inline"}
    assert all(rate > 100_000 for rate in outcome.rates.values())
    assert [row[-1] for row in outcome.rows] == ["20,000", "10,000"]


def test_an_engine_that_disagrees_is_an_error_that_shows_both_results():
    other_work = Engine("other", "bench.workloads.keyed_count.run_loop", records=20_000, measured="")
    with pytest.raises(BenchError, match=r"other and loop disagree on 20,000 records(.|\n)*emitted(.|\n)*count"):
        run_workload(workload(LOOP, other_work), settings())


def test_an_engine_that_disagrees_is_found_even_if_the_reference_was_not_chosen():
    other_work = Engine("other", "bench.workloads.keyed_count.run_loop", records=20_000, measured="")
    with pytest.raises(BenchError, match="other and loop disagree"):
        run_workload(workload(LOOP, other_work), settings(peers=("other",)))


def test_a_program_that_fails_is_an_error_with_its_last_words():
    broken = Engine("broken", "bench.workloads.no_such_program", records=10, measured="")
    with pytest.raises(BenchError, match=r"no_such_program failed with exit code 1(.|\n)*No module named"):
        run_workload(workload(LOOP, broken), settings())


def test_records_chosen_on_the_command_line_hold_for_every_engine():
    outcome = run_workload(workload(LOOP, INLINE), settings(records=3_000))
    assert [row[-1] for row in outcome.rows] == ["3,000", "3,000"]


def test_input_files_are_made_per_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = []

    def prepare(directory: Path, records: int) -> Path:
        made.append(records)
        return directory / "unused"

    monkeypatch.setattr("bench.harness.DATA", tmp_path)
    run_workload(workload(LOOP, INLINE, prepare=prepare), settings())
    assert set(made) == {20_000, 10_000}


def test_medians_ratios_and_the_table():
    spry = Engine("spry", "m", records=10, measured="all of it")
    runs = {
        "spry": [Measurement(100, seconds, {}) for seconds in (1.0, 4.0, 2.0)],
        "loop": [Measurement(100, seconds, {}) for seconds in (1.0, 0.5, 2.0)],
    }
    outcome = summarise(workload(spry, LOOP), [spry, LOOP], runs)
    assert outcome.rates == {"spry": 50.0, "loop": 100.0}
    assert outcome.ratios == {"spry/loop": 0.5}
    assert outcome.rows == [
        ["spry", "50", "25", "100", "3", "100", ""],
        ["loop", "100", "50", "200", "3", "100", "0.50 x"],
    ]
    assert json.loads(outcome.to_json()) == {
        "name": "sample",
        "rates": outcome.rates,
        "ratios": outcome.ratios,
    }
    for page in (as_text(outcome), as_markdown(outcome), results_page([outcome])):
        assert "0.50 x" in page
        assert "all of it" in page


def test_a_saved_page_keeps_what_was_not_run_again():
    runs = {"loop": [Measurement(100, 1.0, {})]}
    one = summarise(replace(workload(LOOP), name="one"), [LOOP], runs)
    other = summarise(replace(workload(LOOP), name="other"), [LOOP], runs)
    page = results_page([other], results_page([one]))
    assert page.index("## one") < page.index("## other") and page.count("## ") == 2
    assert results_page([one], page).count("## ") == 2


def test_engines_needed_by_another_run_only_beside_it():
    helper = Engine("loop-more", "m", records=1, measured="", needed_by="loop")
    sample = workload(Engine("spry", "m", records=1, measured=""), LOOP, INLINE, helper)
    assert sample.peers == ("loop", "inline")
    names = [[e.name for e in selected_engines(sample, settings(spry=True, peers=p))] for p in ((), ("loop",), None)]
    assert names == [["spry"], ["spry", "loop", "loop-more"], ["spry", "loop", "inline", "loop-more"]]


def test_chain_10_puts_its_cost_per_step_beside_that_of_chain_5():
    chain = load()["chain-10"]
    assert chain.extra is not None
    extra = chain.extra({"spry": 1e6, "spry-5-steps": 1.5e6})
    assert extra["spry: ns per step, chain of 10"] == pytest.approx(100)
    assert extra["spry: cost per step, 10 steps / 5 steps"] == pytest.approx(0.75)


def test_a_report_brings_its_own_figures():
    report = Report("sample", "a sample", "tests.bench.report_program", arguments=("--quick",))
    outcome = run_report(report, settings())
    assert json.loads(outcome.to_json()) == {"name": "sample", "rates": {"x": 12.5}, "ratios": {"x/y": 2}}
    assert outcome.rows == [["x", "12.5"]]
    assert outcome.notes == ["given ['--quick']"]


def test_every_benchmark_has_its_programs_and_a_reference():
    for benchmark in load().values():
        modules = [benchmark.module] if isinstance(benchmark, Report) else [e.module for e in benchmark.engines]
        for module in modules:
            assert (peers.ROOT / (module.replace(".", "/") + ".py")).is_file(), module
        if isinstance(benchmark, Workload):
            assert benchmark.engine(benchmark.reference).environment == ""
            assert benchmark.engines[0].name == "spry"


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "bench", *arguments]
    return subprocess.run(command, cwd=peers.ROOT, capture_output=True, text=True, check=False)


def test_without_a_name_the_benchmarks_are_listed():
    listed = bench()
    assert listed.returncode == 0
    for name, benchmark in load().items():
        assert re.search(rf"^  {re.escape(name)} +{re.escape(benchmark.summary)}$", listed.stdout, re.MULTILINE)


def test_json_is_the_last_line_of_the_output():
    run = bench("chain-5", "--without-spry", "--peers", "loop,inline", "--records", "20_000", "--runs", "1", "--json")
    assert run.returncode == 0, run.stderr
    printed = json.loads(run.stdout.splitlines()[-1])
    assert printed["name"] == "chain-5"
    assert printed["rates"].keys() == {"loop", "inline"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such"], "no benchmark named no-such; there are: chain-5,"),
        (["chain-5", "--peers", "loop,nobody"], "no peer named nobody; there are: bytewax,"),
        (["chain-5", "--runs", "0"], "must be at least 1"),
        (["chain-5", "--peers", "none", "--without-spry"], "none of the chosen engines"),
    ],
)
def test_mistakes_on_the_command_line_are_named(arguments: list[str], message: str):
    run = bench(*arguments)
    assert run.returncode != 0
    assert message in run.stderr
    assert "Traceback" not in run.stderr
