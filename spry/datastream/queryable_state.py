"""What a keyed stream keeps for clients that ask for it."""

from __future__ import annotations

from copy import copy
from typing import Any

from spry.common.context import RuntimeContext
from spry.common.state import (
    AggregatingStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from spry.datastream.functions import KeyedProcessFunction

__all__ = ["KeepForQueries", "queryable"]


def queryable(name: str, descriptor: StateDescriptor) -> StateDescriptor:
    """The descriptor of what is kept: a copy that is open to queries by this name."""
    if not isinstance(descriptor, ValueStateDescriptor | ReducingStateDescriptor | AggregatingStateDescriptor):
        raise TypeError(
            "as_queryable_state takes a ValueStateDescriptor, a ReducingStateDescriptor or an "
            f"AggregatingStateDescriptor, not {descriptor!r}: lists and maps of a whole stream would grow without end"
        )
    kept = copy(descriptor)
    if not kept.is_queryable():
        kept.set_queryable(name)
    return kept


class KeepForQueries(KeyedProcessFunction):
    """Keeps of each key the latest record, or what all its records reduce or aggregate to. It emits nothing."""

    def __init__(self, descriptor: StateDescriptor) -> None:
        self._descriptor = descriptor

    def open(self, runtime_context: RuntimeContext) -> None:
        descriptor = self._descriptor
        if isinstance(descriptor, ReducingStateDescriptor):
            self._keep = runtime_context.get_reducing_state(descriptor).add
        elif isinstance(descriptor, AggregatingStateDescriptor):
            self._keep = runtime_context.get_aggregating_state(descriptor).add
        elif isinstance(descriptor, ValueStateDescriptor):
            self._keep = runtime_context.get_state(descriptor).update

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> None:
        self._keep(value)
