"""Every example is run as a program, and prints what it says."""

from __future__ import annotations

import ast
import re
import runpy
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.spark


class Runner:
    """Runs examples in this process, where Spark is up already."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, name: str, *arguments: str) -> list[str]:
        path = EXAMPLES / name
        self._monkeypatch.setattr(sys, "argv", [str(path), *arguments])
        runpy.run_path(str(path), run_name="__main__")
        return self._capsys.readouterr().out.splitlines()


@pytest.fixture
def run(spark_context: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    return Runner(capsys, monkeypatch)


def without_subtask(lines: list[str]) -> Counter[str]:
    return Counter(line.split("> ", 1)[-1] for line in lines)


def test_word_count(run: Runner) -> None:
    words = ["(to,1)", "(to,2)", "(be,1)", "(be,2)", "(or,1)", "(not,1)", "(that,1)", "(is,1)", "(the,1)"]
    assert without_subtask(run("word_count.py")) == Counter([*words, "(question,1)"])


def test_word_count_of_a_file(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a b\nb a a\n")
    printed = without_subtask(run("word_count.py", str(tmp_path / "text.txt")))
    assert printed == Counter(["(a,1)", "(a,2)", "(a,3)", "(b,1)", "(b,2)"])


def test_side_outputs(run: Runner) -> None:
    assert Counter(run("side_outputs.py")) == Counter(
        [
            "reading> (berlin,21.5)",
            "reading> (oslo,-3.0)",
            "reading> (cairo,41.2)",
            "reading> (lima,19.0)",
            "alarm> cairo has 41.2 degrees",
            "not understood> paris",
            "not understood> rome warm",
        ]
    )


def test_custom_source(run: Runner) -> None:
    days = ["2024-09-13", "2024-12-13", "2025-06-13", "2026-02-13", "2026-03-13", "2026-11-13", "2027-08-13"]
    assert run("custom_source.py") == [f"Friday the 13th: {day}" for day in days]


def test_custom_sink(run: Runner, tmp_path: Path) -> None:
    shown = [re.sub(r"-[0-9a-f]{8}-", "-", line) for line in run("custom_sink.py", str(tmp_path))]
    assert shown == [
        "part-0-0.txt: 5 lines, the first: 1 squared is 1",
        "part-1-0.txt: 5 lines, the first: 6 squared is 36",
    ]
    assert len(list(tmp_path.iterdir())) == 2, "nothing else, hidden files least of all, is left behind"


def test_rolling_aggregates(run: Runner) -> None:
    by_title = {line.split()[0]: line[8:].strip().split("  ") for line in run("rolling_aggregates.py")}
    assert by_title["sum"] == ["tea 4 mo", "coffee 3 mo", "tea 5 mo", "coffee 8 mo", "tea 11 mo"]
    assert by_title["min"] == ["tea 4 mo", "coffee 3 mo", "tea 1 mo", "coffee 3 mo", "tea 1 mo"]
    assert by_title["min_by"] == ["tea 4 mo", "coffee 3 mo", "tea 1 tu", "coffee 3 mo", "tea 1 tu"]
    assert by_title["max"] == ["tea 4 mo", "coffee 3 mo", "tea 4 mo", "coffee 5 mo", "tea 6 mo"]
    assert by_title["max_by"] == ["tea 4 mo", "coffee 3 mo", "tea 4 mo", "coffee 5 tu", "tea 6 we"]
    assert by_title["reduce"][-1] == "tea 11 mo+tu+we"


def test_batch_mode(run: Runner) -> None:
    streaming, batch, automatic = run("batch_mode.py")
    assert streaming.count("(") == 8
    for line in (batch, automatic):
        pairs = [ast.literal_eval(text + ")") for text in line.split(":")[1].strip().split(")") if text]
        assert sorted(pairs) == [("a", 3), ("is", 2), ("rose", 3)]


def test_diamond(run: Runner) -> None:
    lines = run("diamond.py")
    assert lines[:2] == [
        "level 0: Source: Collection Source (x1)",
        "level 1: read -> (Filter -> too hot, Map) (x2)",
    ]
    assert without_subtask(lines[3:]) == Counter(
        ["Boiler is at 96 degrees", "Boiler was measured 3 times", "Pump was measured 3 times"]
    )


def test_async_jobs(run: Runner) -> None:
    assert run("async_jobs.py") == [
        "started job 32 digits of id",
        "status: RUNNING",
        "at least 500 seen: True",
        "subtasks: {'Source: ticks -> count -> Sink: Unnamed (1/1)': 'RUNNING'}",
        "status: CANCELED",
    ]


def test_rich_functions(run: Runner) -> None:
    *words, unknown, closed, metric = run("rich_functions.py")
    assert words == ["nimble", "and", "fast", "and", "munter*"]
    assert unknown == "unknown words: {'munter': 1}"
    assert closed == "subtasks closed: 1"
    assert metric.endswith("translate.words': 5}")


@pytest.mark.parametrize("name", ["top_n_all_window.py", "top_n_keyed.py"])
def test_top_n(run: Runner, name: str) -> None:
    assert run(name) == [
        " -5 s to  5 s: home 2, cart 1",
        "  0 s to 10 s: cart 3, home 3",
        "  5 s to 15 s: cart 3, help 3",
        " 10 s to 20 s: help 2, cart 1",
    ]


def test_night_trigger(run: Runner) -> None:
    assert run("night_trigger.py") == [
        "02 May 20:00: 2 visitors, closed by event time",
        "02 May 21:00: 3 visitors, closed by the clock",
        "03 May 09:00: 2 visitors, closed by event time",
    ]


def test_operator_state(run: Runner) -> None:
    restarts, *batches = run("operator_state.py")
    assert restarts == "restarts: 1"
    starts = range(0, 95, 10)
    assert batches == [f"from-{s:03}.txt: {' '.join(map(str, range(s, min(s + 10, 95))))}" for s in starts]


def test_exactly_once_files(run: Runner, tmp_path: Path) -> None:
    [line] = run("exactly_once_files.py", str(tmp_path), "1500")
    assert re.fullmatch(r"1500 orders in \d+ files, each of them once", line)


def test_exactly_once_files_go_on_where_they_were(spark_context: Any, tmp_path: Path) -> None:
    example = runpy.run_path(str(EXAMPLES / "exactly_once_files.py"))
    env = example["environment"](tmp_path)
    example["define"](env, tmp_path, 3000)
    client = env.execute_async("interrupted")
    while not client.get_metrics().get("job.checkpoints.completed"):
        time.sleep(0.05)
    client.cancel().result()
    job = example["newest_job"](tmp_path)
    assert job.name == str(client.get_job_id()), "its checkpoints have stayed"
    again = example["environment"](tmp_path, **{"execution.state-recovery.path": str(job)})
    example["define"](again, tmp_path, 3000)
    again.execute("going on")
    assert example["check"](tmp_path, 3000).startswith("3000 orders in ")


@pytest.mark.slow
def test_demo(run: Runner) -> None:
    lines = run("demo.py")
    # The orders are the same in every run, so the exact results follow from their definition.
    demo = runpy.run_path(str(EXAMPLES / "demo.py"))
    prices, hour = demo["PRICES"], demo["HOUR"]
    numbers = range(demo["SECONDS"] * demo["ORDERS_PER_SECOND"])
    orders = [demo["make_order"](number) for number in numbers]
    late = {number for number in numbers if number % 9001 == 9000 and number > len(numbers) // 2}
    valid = [(n, order) for n, order in enumerate(orders) if order.product in prices and order.quantity > 0]
    in_time = [order for number, order in valid if number not in late]

    table = {line.split()[0]: line.split()[1:3] for line in lines if line and line.split()[0] in prices}
    for product, price in prices.items():
        pieces = sum(order.quantity for order in in_time if order.product == product)
        assert table[product] == [f"{pieces:,}", f"{pieces * price:,.2f}"]
    of_hours = [line for line in lines if " pieces " in line]
    for line, start in zip(of_hours, range(8, 20), strict=True):
        pieces = sum(order.quantity for order in in_time if order.placed // hour == start)
        assert line.startswith(f"{start:02}:00 to {start + 1:02}:00 {pieces:8,} pieces ")
    too_late = {f"    too late: {order}" for number, order in valid if number in late}
    assert {line for line in lines if "too late" in line} == too_late
    assert len(too_late) > 3
    assert [line.split(", at")[0] for line in lines if "sold out" in line] == [
        "    sold out? No lamp was ordered for half an hour"
    ]
    mistakes = f"{len(orders) - len(valid):,} of them not valid"
    assert any(line.startswith(f"{len(orders):,} orders in") and mistakes in line for line in lines)


def test_every_example_is_tested() -> None:
    tested = Path(__file__).read_text(encoding="utf-8")
    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in tested] == []
