from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spry.common.elements import MAX_WATERMARK, MIN_TIMESTAMP, EndOfInput, Watermark, WatermarkStatus
from spry.runtime.blocks import Block
from spry.runtime.gate import InputGate

A, B = (0, 0), (0, 1)
IDLE, ACTIVE = WatermarkStatus(True), WatermarkStatus(False)


def block(channel: tuple[int, int], sequence: int) -> Block:
    return Block(channel[0], channel[1], sequence, [sequence], None, [])


def say(gate: InputGate, channel: tuple[int, int], *elements: Any) -> list[Any]:
    return [out for element in elements for out in gate.control(*channel, element)]


def test_blocks_in_order_pass_at_once() -> None:
    gate = InputGate([A, B])
    for sequence in range(3):
        assert [b.sequence for b in gate.in_order(block(A, sequence))] == [sequence]
    assert [b.sequence for b in gate.in_order(block(B, 0))] == [0], "channels have an order each"
    assert gate.missing() is None


def test_a_block_that_came_too_early_waits() -> None:
    gate = InputGate([A, B])
    assert gate.in_order(block(A, 2)) == []
    assert gate.in_order(block(A, 1)) == []
    assert gate.missing() == "edge 0, source subtask 0: block 0 is missing"
    assert [b.sequence for b in gate.in_order(block(A, 0))] == [0, 1, 2]
    assert gate.missing() is None


@given(st.lists(st.integers(0, 1), max_size=30), st.randoms(use_true_random=False))
def test_any_order_of_arrival_gives_the_order_of_each_channel(sources: list[int], random: Any) -> None:
    sent: dict[int, int] = {0: 0, 1: 0}
    blocks = []
    for source in sources:
        blocks.append(block((0, source), sent[source]))
        sent[source] += 1
    random.shuffle(blocks)
    gate = InputGate([A, B])
    passed = [ready for b in blocks for ready in gate.in_order(b)]
    for source in (0, 1):
        assert [b.sequence for b in passed if b.source == source] == list(range(sent[source]))
    assert gate.missing() is None


def test_the_watermark_is_the_smallest_of_all_channels() -> None:
    gate = InputGate([A, B])
    assert say(gate, A, Watermark(10)) == []
    assert gate.watermark == MIN_TIMESTAMP
    assert say(gate, B, Watermark(5)) == [Watermark(5)]
    assert say(gate, B, Watermark(8)) == [Watermark(8)]
    assert say(gate, B, Watermark(20)) == [Watermark(10)]
    assert gate.watermark == 10


def test_a_watermark_never_goes_back() -> None:
    gate = InputGate([A])
    assert say(gate, A, Watermark(10), Watermark(10), Watermark(4), Watermark(11)) == [Watermark(10), Watermark(11)]


def test_an_idle_channel_holds_nothing_back() -> None:
    gate = InputGate([A, B])
    say(gate, A, Watermark(10))
    assert say(gate, B, IDLE) == [Watermark(10)]
    assert say(gate, A, Watermark(20)) == [Watermark(20)]
    assert say(gate, B, Watermark(15)) == [], "watermarks of an idle channel are kept for later"


def test_a_channel_that_was_idle_and_is_behind_holds_time_but_does_not_turn_it_back() -> None:
    gate = InputGate([A, B])
    say(gate, B, IDLE)
    say(gate, A, Watermark(20))
    assert say(gate, B, ACTIVE, Watermark(12)) == []
    assert say(gate, A, Watermark(30)) == []
    assert gate.watermark == 20
    assert say(gate, B, Watermark(25)) == [Watermark(25)]


def test_the_gate_is_idle_when_all_channels_are() -> None:
    gate = InputGate([A, B])
    say(gate, A, Watermark(3))
    say(gate, B, Watermark(7))
    assert say(gate, A, IDLE) == [Watermark(7)]
    assert say(gate, B, IDLE) == [IDLE]
    assert gate.idle
    assert say(gate, B, IDLE) == []
    assert say(gate, A, ACTIVE) == [ACTIVE]
    assert not gate.idle


def test_when_all_become_idle_the_furthest_counts() -> None:
    gate = InputGate([A, B])
    say(gate, A, Watermark(30))
    say(gate, B, Watermark(5), IDLE)
    assert gate.watermark == 30
    gate = InputGate([A, B])
    say(gate, A, IDLE)
    assert say(gate, B, Watermark(9), IDLE) == [Watermark(9), IDLE]


def test_an_ended_channel_holds_nothing_back_and_time_ends_with_the_last() -> None:
    gate = InputGate([A, B])
    say(gate, B, Watermark(5))
    assert say(gate, A, EndOfInput()) == [Watermark(5)]
    assert not gate.ended
    assert say(gate, B, Watermark(9)) == [Watermark(9)]
    assert say(gate, B, EndOfInput()) == [Watermark(MAX_WATERMARK)]
    assert gate.ended


def test_a_channel_that_ends_while_idle() -> None:
    gate = InputGate([A, B])
    say(gate, A, IDLE, EndOfInput())
    assert not gate.ended
    assert say(gate, B, Watermark(4)) == [Watermark(4)]
    assert say(gate, B, EndOfInput())[-1] == Watermark(MAX_WATERMARK)
    assert gate.ended


def test_the_gate_of_a_source_has_no_channels() -> None:
    assert InputGate([]).missing() is None


EVENTS = st.lists(
    st.tuples(st.integers(0, 2), st.one_of(st.integers(0, 50).map(Watermark), st.booleans().map(WatermarkStatus))),
    max_size=40,
)


@given(EVENTS)
def test_against_a_model(events: list[tuple[int, Any]]) -> None:
    """Out come ever larger watermarks, none above what an active channel has promised."""
    gate = InputGate([(0, n) for n in range(3)])
    marks, idle, last = [MIN_TIMESTAMP] * 3, [False] * 3, MIN_TIMESTAMP
    for source, event in events:
        if isinstance(event, Watermark):
            marks[source] = max(marks[source], event.timestamp)
        else:
            idle[source] = event.idle
        for out in gate.control(0, source, event):
            if isinstance(out, Watermark):
                assert out.timestamp > last
                last = out.timestamp
                active = [mark for mark, is_idle in zip(marks, idle, strict=True) if not is_idle]
                assert last == (min(active) if active else max(marks))
        assert gate.idle == all(idle)
        active = [mark for mark, is_idle in zip(marks, idle, strict=True) if not is_idle]
        assert not active or gate.watermark >= min(active), "nothing is held back"
