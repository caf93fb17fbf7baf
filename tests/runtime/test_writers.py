"""Where records go."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from spry.common.elements import NO_TIMESTAMP, EndOfInput, Watermark
from spry.common.keys import KeySelection, key_group_of, key_group_range, subtask_of_key_group
from spry.common.partitioning import (
    Broadcast,
    Custom,
    Forward,
    Global,
    KeyGroups,
    Partitioning,
    Rebalance,
    Rescale,
    Shuffle,
    rescale_targets,
)
from spry.common.plan import EdgePlan
from spry.runtime.blocks import Block, decode_block
from spry.runtime.codegen import CodeWriter
from spry.runtime.writers import Writer, create_writer, target_subtasks


class Wire:
    """Notes which block went where."""

    def __init__(self, in_slot: frozenset[int] = frozenset()) -> None:
        self.in_slot = in_slot
        self.blocks: list[tuple[int, Block]] = []
        self.delivered = 0

    def is_in_slot(self, edge: EdgePlan, target: int) -> bool:
        return target in self.in_slot

    def deliver(self, edge: EdgePlan, target: int, block: Block) -> None:
        self.delivered += 1
        self.blocks.append((target, block))

    def send(self, edge: EdgePlan, target: int, payload: bytes) -> None:
        self.blocks.append((target, decode_block(payload)))

    def received(self, target: int) -> list[Any]:
        return [value for to, block in self.blocks if to == target for value in block.values]

    def stamps(self, target: int) -> list[int]:
        return [stamp for to, block in self.blocks if to == target for stamp in block.timestamps or ()]


def writer_for(
    partitioning: Partitioning,
    targets: int,
    subtask: int = 0,
    sources: int = 1,
    in_slot: frozenset[int] = frozenset(),
    max_parallelism: int = 128,
) -> tuple[Writer, Wire]:
    wire = Wire(in_slot)
    edge = EdgePlan(5, 1, 0, None, 2, 0, partitioning, False)
    return create_writer(edge, subtask, sources, targets, max_parallelism, wire), wire


def write(writer: Writer, values: list[Any], timestamps: list[int] | None = None) -> None:
    if timestamps is not None and not writer.timestamped:
        writer.switch_to_timestamps()
    g = CodeWriter("run", "values, timestamps")
    stamped = writer.timestamped
    with g.block("for v, t in zip(values, timestamps):", loop=True):
        writer.generate(g, "v", "t" if stamped else None)
    g.build().call(values, timestamps if timestamps is not None else [NO_TIMESTAMP] * len(values))


def send(partitioning: Partitioning, targets: int, values: list[Any], **place: Any) -> Wire:
    writer, wire = writer_for(partitioning, targets, **place)
    write(writer, values)
    writer.flush(True)
    assert sum(len(block.values) for _, block in wire.blocks) == writer.records
    return wire


NUMBERS = list(range(1000))


@pytest.mark.parametrize("targets", [1, 2, 3, 7])
@pytest.mark.parametrize("cuts", [1, 5, 1000])
def test_rebalance_is_even_also_over_many_small_blocks(targets: int, cuts: int) -> None:
    writer, wire = writer_for(Rebalance(), targets)
    size = len(NUMBERS) // cuts
    for cut in range(cuts):
        write(writer, NUMBERS[cut * size : (cut + 1) * size])
        writer.flush(True)
    counts = [len(wire.received(target)) for target in range(targets)]
    assert sum(counts) == len(NUMBERS)
    assert max(counts) - min(counts) <= 1
    assert sorted(value for target in range(targets) for value in wire.received(target)) == NUMBERS
    for target in range(targets):
        assert wire.received(target) == sorted(wire.received(target)), "order is kept per channel"


def test_rebalance_of_short_streams_from_many_subtasks_uses_many_targets() -> None:
    first = {wire.blocks[0][0] for wire in (send(Rebalance(), 8, ["x"], subtask=n, sources=40) for n in range(40))}
    assert len(first) >= 6


@pytest.mark.parametrize(
    ("sources", "targets", "pairs"),
    [
        (3, 2, [(0, 0), (1, 1), (2, 1)]),
        (5, 3, [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2)]),
        (4, 2, [(0, 0), (1, 0), (2, 1), (3, 1)]),
        (2, 3, [(0, 0), (0, 1), (1, 2)]),
        (3, 5, [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4)]),
    ],
)
def test_rescale_connects_the_subtasks_that_flink_connects(
    sources: int, targets: int, pairs: list[tuple[int, int]]
) -> None:
    assert [(s, t) for s in range(sources) for t in rescale_targets(s, sources, targets)] == pairs


@pytest.mark.parametrize(("sources", "targets"), [(1, 4), (2, 4), (4, 2), (3, 5), (5, 3), (4, 4), (6, 1)])
def test_rescale_targets(sources: int, targets: int) -> None:
    reached: Counter[int] = Counter()
    for subtask in range(sources):
        mine = rescale_targets(subtask, sources, targets)
        assert list(mine) == target_subtasks(Rescale(), subtask, sources, targets)
        wire = send(Rescale(), targets, NUMBERS, subtask=subtask, sources=sources)
        assert {to for to, block in wire.blocks if block.values} == set(mine)
        counts = [len(wire.received(target)) for target in mine]
        assert max(counts) - min(counts) <= 1
        reached.update(mine)
    assert set(reached) == set(range(targets)), "every target is fed"
    assert max(reached.values()) - min(reached.values()) <= 1


@pytest.mark.parametrize("targets", [1, 2, 5])
def test_shuffle_covers_all_and_loses_nothing(targets: int) -> None:
    wire = send(Shuffle(), targets, NUMBERS)
    counts = [len(wire.received(target)) for target in range(targets)]
    assert sum(counts) == len(NUMBERS)
    assert min(counts) > len(NUMBERS) / targets / 2
    assert sorted(value for target in range(targets) for value in wire.received(target)) == NUMBERS


@pytest.mark.parametrize("targets", [1, 2, 5])
@pytest.mark.parametrize("in_slot", [frozenset(), frozenset({0})])
def test_broadcast_copies(targets: int, in_slot: frozenset[int]) -> None:
    records = [[n] for n in range(10)]
    wire = send(Broadcast(), targets, records, in_slot=in_slot)
    for target in range(targets):
        assert wire.received(target) == records
    assert all(a is not b for a, b in zip(wire.received(0), records, strict=True))


@pytest.mark.parametrize("targets", [1, 2, 5])
@pytest.mark.parametrize("in_slot", [frozenset(), frozenset({0})])
def test_global_goes_to_the_first_and_all_learn_of_the_end(targets: int, in_slot: frozenset[int]) -> None:
    writer, wire = writer_for(Global(), targets, in_slot=in_slot)
    write(writer, NUMBERS[:10])
    writer.control(EndOfInput())
    writer.flush(True)
    assert wire.received(0) == NUMBERS[:10]
    assert all(wire.received(target) == [] for target in range(1, targets))
    assert sorted(to for to, block in wire.blocks if block.controls) == list(range(targets))


def test_forward_goes_to_the_same_index() -> None:
    wire = send(Forward(), 3, NUMBERS, subtask=2, sources=3)
    assert {to for to, _ in wire.blocks} == {2}
    assert wire.received(2) == NUMBERS


FIRST = KeySelection.of_callable(lambda r: r[0])


def test_custom_goes_where_the_function_says() -> None:
    def partition(key: int, count: int) -> int:
        return key % count

    wire = send(Custom(partition, FIRST), 3, [(n, "x") for n in range(9)])
    for target in range(3):
        assert [record[0] for record in wire.received(target)] == [n for n in range(9) if n % 3 == target]


@pytest.mark.parametrize("bad", [-1, 3, "1", None, 0.0])
def test_custom_partitioners_that_name_no_target(bad: Any) -> None:
    writer, _ = writer_for(Custom(lambda key, count: bad, FIRST), 3)
    with pytest.raises(ValueError, match=r"must return an int from 0 to 2 \(3 partitions\)"):
        write(writer, [(1, "x")])


KEYS: list[Any] = [*range(300), *[f"k{n}" for n in range(300)], None, ("a", None), 1.0, True, 2.5, frozenset({1})]


@pytest.mark.parametrize(("targets", "max_parallelism"), [(1, 128), (2, 128), (3, 128), (4, 4), (5, 7)])
def test_a_key_goes_to_the_subtask_that_owns_its_group(targets: int, max_parallelism: int) -> None:
    records = [(key, at) for at, key in enumerate(KEYS * 2)]
    wire = send(KeyGroups(FIRST), targets, records, max_parallelism=max_parallelism)
    seen = 0
    for target in range(targets):
        for key, _ in wire.received(target):
            group = key_group_of(key, max_parallelism)
            assert subtask_of_key_group(group, max_parallelism, targets) == target
            assert group in key_group_range(target, max_parallelism, targets)
            seen += 1
        ats = [at for _, at in wire.received(target)]
        assert ats == sorted(ats)
    assert seen == len(records)


def test_more_keys_than_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spry.runtime.writers._CACHED_ROUTES", 10)
    wire = send(KeyGroups(FIRST), 4, [(n, 0) for n in range(1000)] * 2)
    for target in range(4):
        assert all(subtask_of_key_group(key_group_of(key, 128), 128, 4) == target for key, _ in wire.received(target))
    assert sum(len(wire.received(target)) for target in range(4)) == 2000


ALL: list[Partitioning] = [
    Rebalance(),
    Rescale(),
    Shuffle(),
    Broadcast(),
    Global(),
    KeyGroups(FIRST),
    Custom(lambda key, count: key % count, FIRST),
]


@pytest.mark.parametrize("partitioning", ALL, ids=lambda p: p.ship_strategy)
@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("in_slot", [frozenset(), frozenset({0, 1, 2})])
def test_timestamps_stay_with_their_records(partitioning: Any, targets: int, in_slot: frozenset[int]) -> None:
    writer, wire = writer_for(partitioning, targets, in_slot=in_slot)
    write(writer, [(n, n) for n in range(20)])
    write(writer, [(n, n) for n in range(20, 60)], [n * 10 for n in range(20, 60)])
    write(writer, [(n, n) for n in range(60, 70)])
    writer.flush(True)
    seen = 0
    for target in range(targets):
        for record, stamp in zip(wire.received(target), wire.stamps(target), strict=True):
            assert stamp == (record[0] * 10 if 20 <= record[0] < 60 else NO_TIMESTAMP)
            seen += 1
    assert seen == 70 * (targets if isinstance(partitioning, Broadcast) else 1)


@pytest.mark.parametrize("partitioning", ALL, ids=lambda p: p.ship_strategy)
@pytest.mark.parametrize("in_slot", [frozenset(), frozenset({0})])
def test_controls_keep_their_place_and_reach_every_target(partitioning: Any, in_slot: frozenset[int]) -> None:
    writer, wire = writer_for(partitioning, 3, in_slot=in_slot)
    write(writer, [(n, n) for n in range(10)])
    writer.control(Watermark(1))
    write(writer, [(n, n) for n in range(10, 20)])
    writer.control(EndOfInput())
    writer.flush(True)
    for target in range(3):
        before = True
        elements: list[Any] = []
        for to, block in wire.blocks:
            if to == target:
                merged: list[Any] = list(block.values)
                for at, control in reversed(block.controls):
                    merged.insert(at, control)
                elements += merged
        assert elements[-1] == EndOfInput()
        for element in elements[:-1]:
            if element == Watermark(1):
                before = False
            else:
                assert (element[0] < 10) is before
        assert not before


@pytest.mark.parametrize("partitioning", ALL, ids=lambda p: p.ship_strategy)
def test_blocks_are_numbered_per_channel(partitioning: Any) -> None:
    writer, wire = writer_for(partitioning, 3, in_slot=frozenset({1}))
    for start in range(0, 60, 10):
        write(writer, [(n, n) for n in range(start, start + 10)])
        writer.control(Watermark(start))
        writer.flush(True)
    for target in range(3):
        blocks = [block for to, block in wire.blocks if to == target]
        assert [block.sequence for block in blocks] == list(range(len(blocks)))
        assert all((block.edge, block.source) == (5, 0) for block in blocks)


def test_small_blocks_wait_and_large_ones_go() -> None:
    writer, wire = writer_for(Rebalance(), 2)
    write(writer, NUMBERS[:10])
    writer.flush(False)
    assert wire.blocks == []
    write(writer, list(range(100_000)))
    writer.flush(False)
    assert wire.blocks
    writer.flush(True)
    count = len(wire.blocks)
    writer.flush(True)
    assert len(wire.blocks) == count, "nothing is sent twice, and no empty block"


def test_records_for_the_same_slot_are_not_pickled() -> None:
    record = [1]
    wire = send(Rebalance(), 1, [record], in_slot=frozenset({0}))
    assert wire.delivered == 1
    assert wire.received(0)[0] is record
