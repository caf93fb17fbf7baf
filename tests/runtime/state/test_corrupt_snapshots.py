"""Snapshot files that are damaged: wherever that is, the file is named, and nothing wrong is read."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spry.common.errors import CheckpointError, JobExecutionError
from spry.datastream import CheckpointedFunction, KeyedProcessFunction
from spry.datastream.state import ListStateDescriptor, ValueStateDescriptor
from spry.runtime.checkpoints.container import SnapshotReader, SnapshotWriter, StatePart
from spry.runtime.state.meta import StateKind, StateMeta
from spry.runtime.testing import HarnessSnapshot, OperatorHarness

ENTRIES = [(("k", n), {"value": n}) for n in range(5)]
ELEMENTS = ["a", [1], None]


def snapshot_file(compress: bool) -> bytes:
    stream = io.BytesIO()
    writer = SnapshotWriter(stream, compress)
    keyed = StatePart(StateMeta("keyed", StateKind.VALUE), lambda: ENTRIES)
    listed = StatePart(StateMeta("listed", StateKind.OPERATOR_LIST), lambda: ELEMENTS, keyed=False)
    writer.add("operator", 0, keyed, 128)
    writer.add("operator", 0, listed, 128)
    assert writer.finish() == len(stream.getvalue())
    return stream.getvalue()


def contents(data: bytes) -> list[Any]:
    reader = SnapshotReader(io.BytesIO(data), "file-7")
    keyed, listed = reader.states
    return [sorted(reader.entries(keyed, None, 128)), reader.elements(listed)]


@pytest.mark.parametrize("compress", [False, True])
def test_every_byte_counts(compress: bool) -> None:
    data = snapshot_file(compress)
    assert contents(data) == [ENTRIES, ELEMENTS]
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 0x20
        with pytest.raises(CheckpointError, match="file-7"):
            contents(bytes(damaged))


@pytest.mark.parametrize("compress", [False, True])
def test_a_file_that_was_cut(compress: bool) -> None:
    data = snapshot_file(compress)
    for length in range(len(data)):
        with pytest.raises(CheckpointError, match="file-7"):
            contents(data[:length])
    for start in range(1, len(data), 7):
        with pytest.raises(CheckpointError, match="file-7"):
            contents(data[start:])


def test_a_file_of_another_version() -> None:
    data = bytearray(snapshot_file(False))
    data[8] = 9
    with pytest.raises(CheckpointError, match="file-7 has version 9 of the layout; this Spry reads 1"):
        contents(bytes(data))


# Of a function


class Count(KeyedProcessFunction, CheckpointedFunction):
    def initialize_state(self, context: Any) -> None:
        self.all = context.get_operator_state_store().get_list_state(ListStateDescriptor("all"))

    def snapshot_state(self, context: Any) -> None:
        pass

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        self.all.add(value)


def itself(value: Any) -> Any:
    return value


def snapshot(directory: Path) -> HarnessSnapshot:
    with OperatorHarness(Count(), key=itself, names=["counter"]) as harness:
        harness.push(*range(6000))
        return harness.snapshot(3, directory=str(directory))


def restore(given: HarnessSnapshot) -> None:
    with OperatorHarness(Count(), key=itself, names=["counter"], restore=given) as harness:
        assert len(harness.keys("count")) == 6000


def flip(path: Path, position: int) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= 1
    path.write_bytes(bytes(data))


def test_operator_state_and_file_are_named(tmp_path: Path) -> None:
    given = snapshot(tmp_path)
    restore(given)
    [path] = tmp_path.iterdir()
    data = path.read_bytes()
    reader = SnapshotReader(io.BytesIO(data), path.name)
    for state in reader.states:
        path.write_bytes(data)
        _, offset, length, _ = state.extents[-1]
        flip(path, offset + 8 + length // 2)
        message = f"operator 'counter', state '{state.meta.name}': the file .*{path.name} is corrupt"
        with pytest.raises(JobExecutionError, match=message):
            restore(given)


@pytest.mark.parametrize("position", [0, 8, -1, -10, -60])
def test_a_file_whose_frame_is_damaged_is_named(tmp_path: Path, position: int) -> None:
    given = snapshot(tmp_path)
    [path] = tmp_path.iterdir()
    flip(path, position)
    with pytest.raises(JobExecutionError, match=path.name):
        restore(given)


def test_a_file_of_another_size_is_named(tmp_path: Path) -> None:
    given = snapshot(tmp_path)
    [path] = tmp_path.iterdir()
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(JobExecutionError, match=path.name):
        restore(given)
    path.write_bytes(snapshot_file(False))
    with pytest.raises(JobExecutionError, match=f"{path.name} has .* bytes and should have {len(data)}"):
        restore(given)
    path.unlink()
    with pytest.raises(JobExecutionError, match=f"{path.name} of checkpoint 3 is missing"):
        restore(given)


def test_what_is_in_the_metadata_can_be_damaged_too() -> None:
    with OperatorHarness(Count(), key=itself, names=["counter"]) as harness:
        harness.push("a")
        given = harness.snapshot(3)
    [handle] = given.files
    assert handle.inline is not None
    with pytest.raises(JobExecutionError, match="metadata of checkpoint 3 is corrupt"):
        restore(replace(given, files=(replace(handle, inline=handle.inline[:-3]),)))
