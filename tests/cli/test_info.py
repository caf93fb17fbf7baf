"""`spry info`: the graphs of a program, without Spark."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from spry.cli.main import main

HEAD = "from spry.datastream import *\nenv = StreamExecutionEnvironment.get_execution_environment()\n"
DIAMOND = (
    HEAD
    + """
tag = OutputTag("late")
class Split(ProcessFunction):
    def process_element(self, value, ctx):
        yield value
numbers = env.from_collection([1, 2, 3]).process(Split()).name("split")
left = numbers.key_by(lambda n: n % 2).reduce(lambda a, b: a + b).name("left")
right = numbers.get_side_output(tag).filter(lambda n: n > 1).name("right")
left.union(right).print().name("out")
print("about to execute")
env.execute("diamond")
print("never reached")
"""
)


def write(directory: Path, text: str) -> str:
    path = directory / "prog.py"
    path.write_text(text)
    return str(path)


def test_a_diamond_as_text(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "-p", "2", write(tmp_path, DIAMOND)]) == 0
    out = capfd.readouterr().out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "never reached" not in out
    assert lines[:2] == ["about to execute", "Job 'diamond', streaming"]
    stream = lines.index("Stream graph: 5 operators, 5 edges")
    assert lines[stream + 1 : stream + 6] == [
        "1 Source: Collection Source x1",
        "2 split x2 <- 1 (REBALANCE)",
        "4 left x2 <- 2 (HASH)",
        "6 right x2 <- 2 (FORWARD, side output 'late')",
        "8 Sink: out x2 <- 4 (FORWARD), 6 (FORWARD)",
    ]
    job = lines.index("Job graph: 4 chains, 4 edges")
    assert lines[job + 2] == "2 split -> right x2 <- 1 (REBALANCE)"
    assert lines[job + 4] == "8 Sink: out x2 <- 4 (FORWARD, within the slot), 2 (FORWARD, within the slot)"
    execution = lines.index("Execution graph: 7 subtasks, 3 levels (an epoch is 3 Spark stages), 2 slots")
    assert lines[execution + 1 : execution + 5] == [
        "level 0 1 Source: Collection Source x1, slot 0",
        "level 1 2 split -> right x2, slots 0-1",
        "level 2 4 left x2, slots 0-1",
        "8 Sink: out x2, slots 0-1",
    ]
    assert "slot 0 1 (1/1), 2 (1/2), 4 (1/2), 8 (1/2)" in lines
    assert "slot 1 2 (2/2), 4 (2/2), 8 (2/2)" in lines


def test_no_line_is_wider_than_a_wide_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(["info", write(tmp_path, DIAMOND)])
    assert max(len(line) for line in capfd.readouterr().out.splitlines()) <= 120


def test_json_is_all_that_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "-p", "2", "--json", write(tmp_path, DIAMOND)]) == 0
    captured = capfd.readouterr()
    graphs = json.loads(captured.out)
    assert "about to execute" in captured.err
    assert graphs["job"] == "diamond"
    assert graphs["mode"] == "streaming"
    assert [o["name"] for o in graphs["stream_graph"]["operators"]] == [
        "Source: Collection Source",
        "split",
        "left",
        "right",
        "Sink: out",
    ]
    assert {(e["from"], e["to"], e["ship_strategy"], e["within_slot"]) for e in graphs["job_graph"]["edges"]} == {
        (1, 2, "REBALANCE", False),
        (2, 4, "HASH", False),
        (4, 8, "FORWARD", True),
        (2, 8, "FORWARD", True),
    }
    assert graphs["execution_graph"]["levels"] == 3
    assert graphs["execution_graph"]["slot_sharing_groups"] == {"default": [0, 1]}
    assert graphs["slots"][1] == {
        "slot": 1,
        "group": "default",
        "levels": {"1": ["split -> right (2/2)"], "2": ["left (2/2)", "Sink: out (2/2)"]},
    }


def test_slot_sharing_groups(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = HEAD + 'env.from_sequence(1, 9).map(lambda n: n).slot_sharing_group("heavy").print()\nenv.execute()\n'
    assert main(["info", "-p", "2", "--json", write(tmp_path, text)]) == 0
    graphs = json.loads(capfd.readouterr().out)
    assert graphs["execution_graph"]["slot_sharing_groups"] == {"default": [0, 1], "heavy": [2, 3]}
    assert [slot["group"] for slot in graphs["slots"]] == ["default", "default", "heavy", "heavy"]


@pytest.mark.parametrize("call", ["env.execute_async('x')", "stream.execute_and_collect('x')"])
def test_every_way_to_submit(tmp_path: Path, call: str, capfd: pytest.CaptureFixture[str]) -> None:
    text = HEAD + f"stream = env.from_collection([1]).map(lambda n: n)\n{call}\nprint('after')\n"
    assert main(["info", write(tmp_path, text)]) == 0
    out = capfd.readouterr().out
    assert "Job 'x', streaming" in out
    assert "after" not in out


def test_mode_and_job_name_from_settings(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = HEAD + "env.from_collection([1]).print()\nenv.execute()\n"
    settings = ["-D", "pipeline.name=mine", "-D", "execution.runtime-mode=automatic"]
    assert main(["info", *settings, write(tmp_path, text)]) == 0
    assert "Job 'mine', batch" in capfd.readouterr().out


def test_a_program_without_a_job(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["info", write(tmp_path, "import sys; sys.exit(0)")]) == 1
    assert "without starting a job" in capfd.readouterr().err


def test_a_program_that_fails_before_its_job(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["info", write(tmp_path, "1 / 0")]) == 1
    assert capfd.readouterr().err.endswith("ZeroDivisionError: division by zero\n")


def test_spark_is_not_started(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = "pyspark" in sys.modules and sys.modules["pyspark"].SparkContext._active_spark_context
    assert main(["info", write(tmp_path, DIAMOND)]) == 0
    after = "pyspark" in sys.modules and sys.modules["pyspark"].SparkContext._active_spark_context
    assert before == after
