"""Batch mode: everything of a key together, one key after the other.

In batch mode a keyed function sees all records of a key before it sees the next key, and event time ends with each
key. Records wait until their input has ended, grouped by key; past a limit they wait in files, one per key group.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Any

import cloudpickle

from spry.common.elements import MAX_WATERMARK, NO_TIMESTAMP, ControlElement, Watermark
from spry.common.keys import stable_hash
from spry.runtime.context import SubtaskContext
from spry.runtime.operators.base import Operator

__all__ = ["RunningGroupByKeyOperator", "needs_grouping"]

_RECORDS_IN_MEMORY = 1 << 18
_FILES = 64


def needs_grouping(operator: Operator) -> bool:
    """Whether an operator at the head of a chain is keyed and looks at records one by one."""
    from spry.runtime.operators.reduce import RunningReduceOperator

    return operator.plan.description.key is not None and not isinstance(operator, RunningReduceOperator)


class RunningGroupByKeyOperator:
    """Stands before a chain and lets records in by key."""

    def __init__(self, chain: Any, context: SubtaskContext) -> None:
        self._chain = chain
        assert context.key is not None
        self._key = context.key.call
        self._values: dict[Any, list[tuple[Any, int]]] = {}
        self._count = 0
        self._files: list[IO[bytes]] | None = None
        self._timestamped = False

    def control(self, element: ControlElement) -> None:
        """Event time means nothing before the input has ended."""

    def process(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        """Keep the records until the end."""
        key, groups = self._key, self._values
        if timestamps is None:
            for value in values:
                groups.setdefault(key(value), []).append((value, NO_TIMESTAMP))
        else:
            self._timestamped = True
            for value, stamp in zip(values, timestamps, strict=True):
                groups.setdefault(key(value), []).append((value, stamp))
        self._count += len(values)
        if self._count >= _RECORDS_IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        if self._files is None:
            self._files = [tempfile.TemporaryFile(prefix="spry-batch-") for _ in range(_FILES)]  # noqa: SIM115
        parts: list[dict[Any, list[tuple[Any, int]]]] = [{} for _ in range(_FILES)]
        for key, records in self._values.items():
            # Another part of the hash than the one that chose the subtask.
            parts[(stable_hash(key) >> 12) % _FILES][key] = records
        for file, part in zip(self._files, parts, strict=True):
            if part:
                file.write(_pickled(part))
        self._values = {}
        self._count = 0

    def _groups(self) -> Iterator[dict[Any, list[tuple[Any, int]]]]:
        if self._files is None:
            yield self._values
            return
        self._spill()
        for file in self._files:
            with file:
                file.seek(0)
                merged: dict[Any, list[tuple[Any, int]]] = {}
                while file.read(1):
                    file.seek(-1, 1)
                    for key, records in pickle.load(file).items():
                        merged.setdefault(key, []).extend(records)
                yield merged
        self._files = None

    def finish(self) -> Iterator[None]:
        """Let everything in, key by key; yields after each."""
        head: Operator = self._chain.operators[0]
        for groups in self._groups():
            for records in groups.values():
                if self._timestamped:
                    records.sort(key=_stamp)
                values = [value for value, _ in records]
                stamps = [stamp for _, stamp in records] if self._timestamped else None
                self._chain.process(values, stamps)
                end_of_key = getattr(head, "end_of_key", None)
                if end_of_key is not None:
                    self._chain.guard(0, end_of_key)
                yield
            groups.clear()
        self._chain.control(Watermark(MAX_WATERMARK))


def _pickled(part: Any) -> bytes:
    try:
        return pickle.dumps(part, 5)
    except Exception:
        payload: bytes = cloudpickle.dumps(part, 5)  # Instances of classes that are defined inside a function.
        return payload


def _stamp(record: tuple[Any, int]) -> int:
    return record[1]
