"""All subtasks of an operator, each in a harness, which go on from their checkpoint whenever that is asked for."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from typing import Any

from spry.common.elements import NO_TIMESTAMP
from spry.common.keys import key_group_of, subtask_of_key_group
from spry.runtime.testing import OperatorHarness

__all__ = ["Subtasks"]

_GROUPS = 128


class Subtasks:
    """``make`` gives the operator's description, or its function, anew for every subtask."""

    def __init__(
        self,
        make: Callable[[], Any],
        key: Callable[[Any], Any],
        parallelism: int = 1,
        now: int = 0,
        side_outputs: tuple[str, ...] = (),
        configuration: dict[str, str] | None = None,
    ) -> None:
        self._make, self._key, self._sides = make, key, side_outputs
        self._values: list[Any] = []
        self._side_values: dict[str, list[Any]] = {name: [] for name in side_outputs}
        self._configuration = configuration or {}
        self._directory = tempfile.TemporaryDirectory(prefix="spry-test-")
        self._waiting: list[tuple[Any, int]] = []
        self.now = now
        self.checkpoints = 0
        self.harnesses = self._start(parallelism, ())

    def _start(self, parallelism: int, snapshots: Any) -> list[OperatorHarness]:
        return [
            OperatorHarness(
                self._make(),
                key=self._key,
                parallelism=parallelism,
                subtask=subtask,
                max_parallelism=_GROUPS,
                now=self.now,
                side_outputs=self._sides,
                restore=snapshots,
                configuration=self._configuration,
            )
            for subtask in range(parallelism)
        ]

    # In

    def _subtask(self, key: Any) -> int:
        return subtask_of_key_group(key_group_of(key, _GROUPS), _GROUPS, len(self.harnesses))

    def push(self, value: Any, timestamp: int = NO_TIMESTAMP) -> None:
        """An element comes in, together with others, before anything else happens."""
        self._waiting.append((value, timestamp))

    def _flush(self) -> None:
        runs: dict[int, list[tuple[Any, int]]] = {}
        for value, timestamp in self._waiting:
            runs.setdefault(self._subtask(self._key(value)), []).append((value, timestamp))
        for subtask, run in runs.items():
            self.harnesses[subtask].push_timestamped(*run)
        self._waiting.clear()

    def watermark(self, timestamp: int) -> None:
        self._flush()
        for harness in self.harnesses:
            harness.watermark(timestamp)

    def set_time(self, now: int) -> None:
        self._flush()
        self.now = now
        for harness in self.harnesses:
            harness.set_processing_time(now)

    def end(self) -> None:
        self._flush()
        for harness in self.harnesses:
            harness.end()

    def restart(
        self,
        parallelism: int,
        make: Callable[[], Any] | None = None,
        configuration: dict[str, str] | None = None,
        canonical: bool = False,
    ) -> None:
        """Take a checkpoint and go on from it, maybe as another operator or with another configuration."""
        self._flush()
        self.checkpoints += 1
        directory = f"{self._directory.name}/{self.checkpoints}"
        snapshots = [
            harness.snapshot(self.checkpoints, directory=directory, canonical=canonical) for harness in self.harnesses
        ]
        snapshots = pickle.loads(pickle.dumps(snapshots))
        self.close()
        self._make = make or self._make
        self._configuration = self._configuration if configuration is None else configuration
        self.harnesses = self._start(parallelism, snapshots)

    # Out

    def _take(self) -> None:
        for harness in self.harnesses:
            self._values.extend(harness.values())
            for name, values in self._side_values.items():
                values.extend(element.value for element in harness.side_output(name))

    def close(self) -> None:
        self._flush()
        self._take()
        for harness in self.harnesses:
            harness.close()
        self.harnesses = []

    def finished(self) -> list[Any]:
        """Close, and give all that has come out."""
        self.close()
        self._directory.cleanup()
        return self._values

    def side_output(self, name: str) -> list[Any]:
        """What has come out of a side output, after :meth:`close`."""
        return self._side_values[name]
