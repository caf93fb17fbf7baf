"""Each program of the oracle gives on Spry what it gave on PyFlink."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from spry import pyflink_alias
from tests.local_job import program as new_program
from tests.oracle.program import EXPECTED, loaded, names

RECORDED: dict[str, Any] = json.loads(EXPECTED.read_text())


@pytest.fixture(autouse=True)
def pyflink():
    pyflink_alias.install()
    yield
    pyflink_alias.uninstall()


def expected(name: str, module: Any) -> list[str]:
    return getattr(module, "RULES", None) or RECORDED[name]["results"]


@pytest.mark.parametrize("parallelism", [1, 2])
@pytest.mark.parametrize("name", names())
def test_gives_what_pyflink_gives(name, parallelism, monkeypatch):
    with loaded(name) as module:
        slowly = getattr(module, "SLOWLY", False)
        env, job = new_program(parallelism, max_records=1 if slowly else 1000, seed=1)
        monkeypatch.setattr(time, "sleep", lambda seconds: job.clock.advance(int(seconds * 1000)))
        failure = getattr(module, "FAILS", None)
        if failure is not None:
            with pytest.raises(Exception) as raised:
                job.collect(module.define(env))
                job.run()
            assert failure in str(raised.value)
            return
        records = job.collect(module.define(env))
        job.run()
        results = [str(record) for record in records]
        if parallelism == 1 and getattr(module, "ORDERED", False):
            assert results == expected(name, module)
        else:
            assert sorted(results) == sorted(expected(name, module))


def test_all_are_recorded():
    assert len(RECORDED) == len(names()) >= 80
