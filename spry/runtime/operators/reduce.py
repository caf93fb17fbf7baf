"""Rolling reduce per key. In batch mode, one final result per key."""

from __future__ import annotations

from typing import Any

from spry.common.elements import NO_TIMESTAMP
from spry.common.plan import OperatorPlan
from spry.runtime.blocks import detach
from spry.runtime.codegen import CodeWriter
from spry.runtime.context import SubtaskContext
from spry.runtime.operators.base import Emit
from spry.runtime.operators.functions import FunctionOperator

__all__ = ["RunningReduceOperator"]

_STATE = "_op_state"


class RunningReduceOperator(FunctionOperator):
    """Keeps one value per key and emits it after every record.

    What it emits, it also keeps. Unless objects may be reused, a value that can be changed is handed on as a copy.
    """

    method = "reduce"

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        self._table = context.keyed_state.table(_STATE)
        self._timestamps: dict[Any, int] = {}

    @property
    def fresh(self) -> bool:
        return True

    def generate(self, g: CodeWriter, value: str, timestamp: str | None, emit: Emit) -> None:
        assert self.key is not None
        key, reduced = g.fresh("k"), g.fresh("v")
        table = g.bind(getattr(self._table, "hot", self._table), "state")
        g.line(f"{key} = {g.call(self.key.call, value, 'key')}")
        if self.rich:
            g.line(f"{g.bind(self.context.key_context, 'keyed')}.key = {key}")
        # A table on disk has the values that are in use in a dict, and loads the others into it.
        load = getattr(self._table, "load", None)
        there = f"{key} in {table}" if load is None else f"{key} in {table} or {g.bind(load, 'load')}({key})"
        with g.block(f"if {there}:"):
            g.line(f"{reduced} = {g.bind(self.call, 'reduce')}({table}[{key}], {value})")
            if self._enforce is not None:
                g.line(f"{reduced} = {g.bind(self._enforce, 'enforce')}({reduced})")
        with g.block("else:"):
            g.line(f"{reduced} = {value}")
        g.line(f"{table}[{key}] = {reduced}")
        if self.context.batch:
            if timestamp is not None:
                g.line(f"{g.bind(self._timestamps, 'times')}[{key}] = {timestamp}")
            return
        if not self.context.is_object_reuse_enabled():
            # An aggregation of a field makes a new tuple each time; other records it keeps as the user's functions do.
            tuples_too = not getattr(self.call, "fresh_results", False)
            condition = "" if tuples_too else f"if {reduced}.__class__ is not tuple: "
            g.line(f"{condition}{reduced} = {g.bind(detach, 'detach')}({reduced})")
        emit(reduced)

    def finish(self) -> None:
        if not self.context.batch:
            return
        stamps = [self._timestamps.get(key, NO_TIMESTAMP) for key in self._table] if self._timestamps else None
        self.output.emit(list(self._table.values()), stamps)
        self._table.clear()
        self._timestamps.clear()
