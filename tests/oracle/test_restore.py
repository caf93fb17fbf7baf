"""Programs of the oracle that go on from checkpoints, again and again, at other parallelisms, give what they gave."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from spry import pyflink_alias
from tests.local_job import LocalCheckpoint
from tests.local_job import program as new_program
from tests.oracle.program import EXPECTED, PROGRAMS, loaded, names

RECORDED: dict[str, Any] = json.loads(EXPECTED.read_text())
EXCEPT = {
    "map_rich": "what its function keeps in attributes is not state",
    "process_life": "its functions are opened and closed by every job",
    "timers_past": "a timer for the past fires as soon as the next job says again how far event time has come",
}


@pytest.fixture(autouse=True)
def pyflink() -> Iterator[None]:
    pyflink_alias.install()
    yield
    pyflink_alias.uninstall()


def restartable() -> list[str]:
    """Programs that end well and take checkpoints."""
    texts = {name: (PROGRAMS / f"{name}.py").read_text() for name in names()}
    return [
        name
        for name, text in texts.items()
        if name not in EXCEPT and "\nFAILS" not in text and "RuntimeExecutionMode.BATCH" not in text
    ]


def over_restarts(
    name: str,
    parallelisms: tuple[int, ...],
    epochs: int,
    monkeypatch: pytest.MonkeyPatch,
    chaining: bool = True,
    backend: str = "hashmap",
    directory: Path | None = None,
) -> None:
    """Each job takes a checkpoint at the end of so many epochs, and the next one goes on from it."""
    with loaded(name) as program:
        results: list[Any] = []
        restore: LocalCheckpoint | None = None
        for number, parallelism in enumerate(cycle(parallelisms)):
            env, job = new_program(
                parallelism, max_records=1, seed=1, chaining=chaining, checkpointing=True, restore=restore
            )
            env.get_configuration().set_string("state.backend.type", backend)
            records = job.collect(program.define(env))
            job.start()
            try:
                with monkeypatch.context() as patched:
                    patched.setattr(time, "sleep", job.sleep())
                    for _ in range(epochs - 1):
                        job.step()
                    restore = job.checkpoint(directory=f"{directory}/{number}" if directory is not None else None)
                finished = job.finished
            finally:
                job.close()
            results.extend(records)
            if finished:
                break
        expected = program.RULES if hasattr(program, "RULES") else RECORDED[name]["results"]
        assert sorted(map(str, results)) == sorted(expected)


@pytest.mark.parametrize(
    ("parallelisms", "epochs", "chaining"), [((1,), 1, True), ((2, 3, 1), 2, True), ((3, 2), 3, False)]
)
@pytest.mark.parametrize("name", restartable())
def test_gives_the_same_over_restarts(
    name: str, parallelisms: tuple[int, ...], epochs: int, chaining: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    over_restarts(name, parallelisms, epochs, monkeypatch, chaining)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in restartable() if "state" in name or "ttl" in name])
def test_so_it_does_with_state_on_disk(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    over_restarts(name, (2, 1, 3), 3, monkeypatch, backend="rocksdb", directory=tmp_path)
