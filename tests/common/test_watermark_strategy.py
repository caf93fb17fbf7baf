from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from spry.common.time import Duration
from spry.common.watermark_strategy import (
    GeneratorKind,
    TimestampAssigner,
    Watermark,
    WatermarkAlignment,
    WatermarkGenerator,
    WatermarkOutput,
    WatermarkStrategy,
)

SECOND = Duration.of_seconds(1)


class FirstField(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[0])


class EveryEvent(WatermarkGenerator):
    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        output.emit_watermark(Watermark(event_timestamp))

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        output.mark_idle()


def test_kinds() -> None:
    assert WatermarkStrategy.no_watermarks().kind is GeneratorKind.NONE
    monotonous = WatermarkStrategy.for_monotonous_timestamps()
    assert (monotonous.kind, monotonous.out_of_orderness_ms) == (GeneratorKind.BOUNDED_OUT_OF_ORDERNESS, 0)
    bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    assert (bounded.kind, bounded.out_of_orderness_ms) == (GeneratorKind.BOUNDED_OUT_OF_ORDERNESS, 5000)
    custom = WatermarkStrategy.for_generator(EveryEvent)
    assert custom.kind is GeneratorKind.CUSTOM
    assert custom.generator_supplier is EveryEvent


def test_strategies_are_not_changed_but_made_anew() -> None:
    base = WatermarkStrategy.for_monotonous_timestamps()
    idle = base.with_idleness(Duration.of_minutes(1))
    aligned = idle.with_watermark_alignment("group", Duration.of_seconds(3), Duration.of_millis(200))
    assigned = aligned.with_timestamp_assigner(FirstField())
    assert base == WatermarkStrategy.for_monotonous_timestamps()
    assert idle.idle_timeout_ms == assigned.idle_timeout_ms == 60_000
    assert assigned.alignment == WatermarkAlignment("group", 3000)
    assert base.with_watermark_alignment("g", SECOND).alignment == WatermarkAlignment("g", 1000)
    assert aligned.timestamp_assigner is None


def test_assigners_may_be_objects_and_functions() -> None:
    strategy = WatermarkStrategy.no_watermarks()
    assert strategy.extract_timestamp_function() is None
    of_object = strategy.with_timestamp_assigner(FirstField()).extract_timestamp_function()
    of_function = strategy.with_timestamp_assigner(lambda value, old: old + 1).extract_timestamp_function()
    assert of_object is not None and of_object((7,), 0) == 7
    assert of_function is not None and of_function((7,), 1) == 2


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda s: s.for_bounded_out_of_orderness(Duration.of_millis(-1)),
            ValueError,
            "not be negative, got -1 ms",
        ),
        (lambda s: s.for_bounded_out_of_orderness(3), TypeError, "must be a Duration .* got 3"),
        (lambda s: s.with_idleness(Duration.of_seconds(0)), ValueError, "idle_timeout must be at least 1 ms"),
        (lambda s: s.with_idleness("1 s"), TypeError, "idle_timeout must be a Duration"),
        (lambda s: s.with_watermark_alignment("", SECOND), ValueError, "watermark_group"),
        (lambda s: s.with_watermark_alignment("g", Duration.of_millis(-1)), ValueError, "drift must not be"),
        (lambda s: s.with_watermark_alignment("g", SECOND, Duration(0)), ValueError, "update_interval"),
        (lambda s: s.with_timestamp_assigner(FirstField), TypeError, "with_timestamp_assigner"),
        (lambda s: s.with_timestamp_assigner("f"), TypeError, "with_timestamp_assigner"),
        (lambda s: s.for_generator(EveryEvent()), TypeError, "every subtask needs its own"),
    ],
)
def test_mistakes(make: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make(WatermarkStrategy.no_watermarks())
