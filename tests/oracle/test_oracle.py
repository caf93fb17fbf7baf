"""Each program of the oracle gives on Spry what it gave on PyFlink; where that breaks Flink's rules, what they say."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from spry import pyflink_alias
from tests.local_job import program as new_program
from tests.oracle.program import EXPECTED, loaded, names

RECORDED: dict[str, Any] = json.loads(EXPECTED.read_text())

ON_SPARK = [
    "batch_windows",
    "error_own_exception",
    "partition_custom_class",
    "rolling_by_rows",
    "session_dynamic",
    "side_output_keyed",
    "state_map",
    "top_n",
    "watermarks_idle_input",
    "trigger_own_session",
    "window_all_process",
]


@pytest.fixture(autouse=True)
def pyflink() -> Iterator[None]:
    pyflink_alias.install()
    yield
    pyflink_alias.uninstall()


def check(program: ModuleType, name: str, run: Callable[[Any], list[Any]], ordered: bool) -> None:
    """Run the program with what takes its stream and gives the records, and compare."""
    if hasattr(program, "FAILS"):
        with pytest.raises(Exception) as raised:
            run(program)
        assert program.FAILS in str(raised.value)
        return
    expected = program.RULES if hasattr(program, "RULES") else RECORDED[name]["results"]
    results = [str(record) for record in run(program)]
    if ordered and hasattr(program, "ORDERED"):
        assert results == expected
    else:
        assert sorted(results) == sorted(expected)


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("name", names())
def test_gives_what_pyflink_gives(name: str, parallelism: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with loaded(name) as program:
        slowly = hasattr(program, "SLOWLY")
        env, job = new_program(parallelism, max_records=1 if slowly else 1000, seed=1)
        monkeypatch.setattr(time, "sleep", job.sleep())

        def run(program: ModuleType) -> list[Any]:
            records = job.collect(program.define(env))
            job.run()
            return records

        check(program, name, run, parallelism == 1)


@pytest.mark.spark
@pytest.mark.parametrize("name", ON_SPARK)
def test_so_it_does_on_spark(name: str, make_env: Any) -> None:
    with loaded(name) as program:
        check(program, name, lambda program: list(program.define(make_env(2)).execute_and_collect()), False)


def test_there_is_a_record_of_each_program() -> None:
    assert sorted(RECORDED) == names()
    assert len(names()) >= 220


@pytest.mark.parametrize("name", names())
def test_rules_are_given_where_pyflink_breaks_them_and_only_there(name: str) -> None:
    with loaded(name) as program:
        recorded = RECORDED[name].get("results")
        if hasattr(program, "RULES"):
            assert recorded is None or sorted(recorded) != sorted(program.RULES)
            assert "PyFlink" in str(program.__doc__)
        elif recorded is None:
            assert hasattr(program, "FAILS")
