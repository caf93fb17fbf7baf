"""Map, flat map, filter, project."""

from __future__ import annotations

from typing import Any

from spry.common.plan import OperatorPlan
from spry.common.types import Row, make_row, share_names
from spry.runtime.codegen import CodeWriter
from spry.runtime.context import SubtaskContext
from spry.runtime.operators.base import Emit, Operator, is_generator
from spry.runtime.operators.functions import FunctionOperator

__all__ = ["RunningFilterOperator", "RunningFlatMapOperator", "RunningMapOperator", "RunningProjectOperator"]


class RunningMapOperator(FunctionOperator):
    """One record in, one out."""

    method = "map"

    def generate(self, g: CodeWriter, value: str, timestamp: str | None, emit: Emit) -> None:
        self.set_key(g, value)
        result = g.fresh("v")
        g.line(f"{result} = {g.call(self.call, value, 'map')}")
        self.emit_checked(g, result, emit)


class RunningFlatMapOperator(FunctionOperator):
    """One record in, any number out: whatever the function yields or returns. None is nothing."""

    method = "flat_map"

    def generate(self, g: CodeWriter, value: str, timestamp: str | None, emit: Emit) -> None:
        self.set_key(g, value)
        call, result = g.bind(self.call, "flatmap"), g.fresh("v")
        iterable = f"{call}({value})"
        if not is_generator(self.call):
            results = g.fresh("r")
            g.line(f"{results} = {iterable}")
            iterable = f"{results} if {results} is not None else ()"
        with g.block(f"for {result} in {iterable}:", loop=True):
            self.emit_checked(g, result, emit)


class RunningFilterOperator(FunctionOperator):
    """Keeps the records for which the function is true."""

    method = "filter"

    @property
    def retains(self) -> bool:
        return False  # It emits its input; whoever made that answers for it.

    def generate(self, g: CodeWriter, value: str, timestamp: str | None, emit: Emit) -> None:
        self.set_key(g, value)
        with g.block(f"if {g.call(self.call, value, 'keep')}:"):
            self.emit_checked(g, value, emit)


class RunningProjectOperator(Operator):
    """Keeps some fields of a tuple or row."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        self._fields: tuple[int, ...] = plan.description.fields  # type: ignore[attr-defined]

    @property
    def may_keep(self) -> bool:
        return False

    def _project(self, value: Any) -> Any:
        picked = [value[index] for index in self._fields]
        if isinstance(value, Row):
            names = value.get_field_names()
            shared = share_names(tuple([names[index] for index in self._fields])) if names is not None else None
            return make_row(shared, picked, value.get_row_kind())
        return tuple(picked)

    def generate(self, g: CodeWriter, value: str, timestamp: str | None, emit: Emit) -> None:
        result = g.fresh("v")
        g.line(f"{result} = {g.bind(self._project, 'project')}({value})")
        emit(result)
