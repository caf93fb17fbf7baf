from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spry.common.elements import Watermark
from spry.runtime.blocks import Block, BlockEncoder, decode_block
from spry.runtime.parking import Parking


def live(number: int) -> Block:
    return Block(0, 0, number, [number], [number * 10], [(1, Watermark(number))])


def encoded(number: int) -> bytes:
    return BlockEncoder().encode(0, 0, number, [number], [number * 10], [(1, Watermark(number))])


def content(item: Block | bytes) -> tuple[Any, ...]:
    block = decode_block(item) if isinstance(item, bytes) else item
    return block.sequence, list(block.values), list(block.timestamps or ()), block.controls


def open_files() -> set[str]:
    return {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _exists(fd)}


def _exists(fd: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{fd}")


@given(st.lists(st.booleans(), max_size=30), st.integers(0, 3000))
def test_blocks_come_back_in_order_wherever_they_waited(alive: list[bool], limit: int) -> None:
    parking = Parking(limit, None)
    for number, is_live in enumerate(alive):
        parking.put(live(number) if is_live else encoded(number), 50.0)
    assert len(parking) == len(alive)
    assert [content(item) for item in parking.take()] == [content(live(number)) for number in range(len(alive))]
    assert len(parking) == 0
    assert list(parking.take()) == []


def test_a_live_block_that_fits_is_not_pickled() -> None:
    parking, block = Parking(1 << 20, None), live(1)
    parking.put(block, 10.0)
    assert next(iter(parking.take())) is block


def test_what_does_not_fit_goes_to_a_file_and_the_file_goes_away(tmp_path: Path) -> None:
    parking = Parking(100, str(tmp_path))
    for number in range(50):
        parking.put(encoded(number))
    assert len(parking) == 50
    assert any(str(tmp_path) in name for name in open_files())
    assert os.listdir(tmp_path) == [], "the file has no name: it goes with the process at the latest"
    assert [content(item)[0] for item in parking.take()] == list(range(50))
    assert not any(str(tmp_path) in name for name in open_files())


def test_parking_can_be_used_again_after_it_spilled(tmp_path: Path) -> None:
    parking = Parking(0, str(tmp_path))
    for round_ in range(3):
        for number in range(5):
            parking.put(encoded(10 * round_ + number))
        assert [content(item)[0] for item in parking.take()] == [10 * round_ + number for number in range(5)]


def test_clear_forgets_and_closes(tmp_path: Path) -> None:
    parking = Parking(0, str(tmp_path))
    for number in range(5):
        parking.put(encoded(number))
    parking.clear()
    assert len(parking) == 0
    assert list(parking.take()) == []
    assert not any(str(tmp_path) in name for name in open_files())
