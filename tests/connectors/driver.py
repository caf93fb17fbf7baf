"""Drives a source without an engine: an enumerator, readers, epochs, checkpoints.

As the engine does, it pickles everything that travels: the source, splits, events, snapshots.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Any

import cloudpickle

from spry.common.source import (
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumeratorContext,
)


def travel(value: Any) -> Any:
    return pickle.loads(cloudpickle.dumps(value))


class Output(ReaderOutput):
    def __init__(self) -> None:
        self.max_records = 64
        self.records: list[Any] = []
        self.batches: list[Sequence[Any]] = []

    def collect(self, record: Any, timestamp: int | None = None) -> None:
        self.records.append(record)

    def collect_batch(self, records: Sequence[Any], timestamps: Sequence[int] | None = None) -> None:
        assert len(records) <= self.max_records
        self.batches.append(records)
        self.records.extend(records)

    def emit_watermark(self, timestamp: int) -> None: ...

    def mark_idle(self) -> None: ...

    def mark_active(self) -> None: ...


class ReaderContext(SourceReaderContext):
    def __init__(self, subtask: int, parallelism: int) -> None:
        self.subtask, self.parallelism = subtask, parallelism
        self.requests = 0

    def index_of_subtask(self) -> int:
        return self.subtask

    def current_parallelism(self) -> int:
        return self.parallelism

    def send_split_request(self) -> None:
        self.requests += 1

    def send_source_event_to_coordinator(self, event: Any) -> None:
        raise AssertionError("no built-in source sends events")

    def metric_group(self) -> Any:
        return None

    def get_configuration(self) -> dict[str, str]:
        return {}


class EnumeratorContext(SplitEnumeratorContext[Any]):
    def __init__(self, parallelism: int) -> None:
        self.parallelism = parallelism
        self.readers: list[int] = []
        self.splits: dict[int, list[Any]] = {}
        self.finished: set[int] = set()

    def current_parallelism(self) -> int:
        return self.parallelism

    def registered_readers(self) -> list[int]:
        return list(self.readers)

    def assign_split(self, split: Any, subtask: int) -> None:
        assert 0 <= subtask < self.parallelism
        assert isinstance(split.split_id(), str)
        self.splits.setdefault(subtask, []).append(split)

    def signal_no_more_splits(self, subtask: int) -> None:
        assert 0 <= subtask < self.parallelism
        self.finished.add(subtask)

    def send_event_to_source_reader(self, subtask: int, event: Any) -> None:
        raise AssertionError("no built-in source sends events")

    def get_configuration(self) -> dict[str, str]:
        return {}


@dataclass
class Checkpoint:
    enumerator: Any
    splits: list[list[Any]]


@dataclass
class Subtask:
    reader: SourceReader[Any]
    context: ReaderContext
    output: Output = field(default_factory=Output)
    ended: bool = False


class SourceDriver:
    """A running source."""

    def __init__(self, source: Source[Any, Any], parallelism: int = 1, checkpoint: Checkpoint | None = None) -> None:
        self.source: Source[Any, Any] = travel(source)
        self.parallelism = parallelism
        self.requests = 0
        self.context = EnumeratorContext(parallelism)
        if checkpoint is None:
            self.enumerator = self.source.create_enumerator(self.context)
        else:
            self.enumerator = self.source.restore_enumerator(self.context, travel(checkpoint.enumerator))
        self.enumerator.start()
        self.subtasks: list[Subtask] = []
        for i in range(parallelism):
            reader_context = ReaderContext(i, parallelism)
            subtask = Subtask(travel(source).create_reader(reader_context), reader_context)
            self.subtasks.append(subtask)
            subtask.reader.start()
        if checkpoint is not None:
            restored = [split for splits in checkpoint.splits for split in splits]
            for i, subtask in enumerate(self.subtasks):
                if restored[i::parallelism]:
                    subtask.reader.add_splits(travel(restored[i::parallelism]))
        for i in range(parallelism):
            self.context.readers.append(i)
            self.enumerator.add_reader(i)
        self._deliver()

    def _deliver(self) -> None:
        splits, finished = self.context.splits, self.context.finished
        self.context.splits, self.context.finished = {}, set()
        for i, subtask in enumerate(self.subtasks):
            if i in splits:
                assert not subtask.ended, f"subtask {i} had ended when it was given more splits"
                subtask.reader.add_splits(travel(splits[i]))
            if i in finished:
                subtask.reader.notify_no_more_splits()

    def epoch(self, polls: int = 1_000_000, max_records: int = 64) -> int:
        """Poll every reader at most this often; how many records came."""
        before = len(self.records)
        for i, subtask in enumerate(self.subtasks):
            subtask.output.max_records = max_records
            for _ in range(polls):
                if subtask.ended:
                    break
                status = subtask.reader.poll_next(subtask.output)
                subtask.ended = status is InputStatus.END_OF_INPUT
                if status is not InputStatus.MORE_AVAILABLE:
                    break
            requests, subtask.context.requests = subtask.context.requests, 0
            self.requests += requests
            for _ in range(requests):
                self.enumerator.handle_split_request(i, "localhost")
        self.enumerator.discover()
        self._deliver()
        return len(self.records) - before

    @property
    def records(self) -> list[Any]:
        return [record for subtask in self.subtasks for record in subtask.output.records]

    @property
    def ended(self) -> bool:
        return all(subtask.ended for subtask in self.subtasks)

    def run(self, max_records: int = 64, timeout: float = 10.0) -> list[Any]:
        """Epoch after epoch until the source ends."""
        deadline = monotonic() + timeout
        while not self.ended:
            if not self.epoch(max_records=max_records):
                assert monotonic() < deadline, "the source did not end"
                sleep(0.001)
        return self.records

    def run_until(self, count: int, timeout: float = 10.0) -> list[Any]:
        """Epoch after epoch until so many records came."""
        deadline = monotonic() + timeout
        while len(self.records) < count:
            if not self.epoch():
                assert monotonic() < deadline, f"only {len(self.records)} of {count} records came"
                sleep(0.001)
        return self.records

    def checkpoint(self) -> Checkpoint:
        splits = [travel(subtask.reader.snapshot_state(1)) for subtask in self.subtasks]
        return Checkpoint(travel(self.enumerator.snapshot_state(1)), splits)

    def close(self) -> None:
        for subtask in self.subtasks:
            subtask.reader.close()
        self.enumerator.close()
