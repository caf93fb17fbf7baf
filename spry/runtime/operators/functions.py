"""Operators around a user's function: its life cycle, its context, its declared type."""

from __future__ import annotations

import builtins
import dis
import types
from typing import Any

from spry.common.plan import OperatorPlan
from spry.common.type_checks import compile_enforcer, is_atomic_type
from spry.runtime.checkpoints.context import StateInitializationContext, StateSnapshotContext
from spry.runtime.codegen import CodeWriter
from spry.runtime.context import SubtaskContext
from spry.runtime.inlining import inline_expression
from spry.runtime.operators import checkpointed
from spry.runtime.operators.base import Emit, Operator, is_generator, user_method

__all__ = ["FunctionOperator", "is_pure"]


class FunctionOperator(Operator):
    """Base of operators with a user's function in ``description.function``."""

    method: str
    """The name of the function object's method that is called per record."""

    def __init__(self, plan: OperatorPlan, context: SubtaskContext) -> None:
        super().__init__(plan, context)
        function = plan.description.function  # type: ignore[attr-defined]
        self.function = context.services.own(function, function)
        self.call = user_method(self.function, self.method)
        self.rich = self.call is not self.function
        self.key = context.key
        self._enforce = compile_enforcer(plan.type_info) if plan.type_info is not None else None

    @property
    def retains(self) -> bool:
        # A generator holds on to what it yields until it is asked for more.
        return is_generator(self.call) or not is_pure(self.call)

    @property
    def fresh(self) -> bool:
        return self.plan.type_info is not None and is_atomic_type(self.plan.type_info)

    @property
    def may_keep(self) -> bool:
        return inline_expression(self.call, "value") is None

    def initialize_state(self, context: StateInitializationContext) -> None:
        if self.rich:
            checkpointed.initialize_function(self.function, context, self.context)

    def snapshot_state(self, context: StateSnapshotContext) -> None:
        if self.rich:
            checkpointed.snapshot_function(self.function, context, self.context)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        if self.rich:
            checkpointed.notify_complete(self.function, checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        if self.rich:
            checkpointed.notify_aborted(self.function, checkpoint_id)

    def open(self) -> None:
        opener = getattr(self.function, "open", None)
        if opener is not None and self.rich:
            opener(self.context)

    def close(self) -> None:
        closer = getattr(self.function, "close", None)
        if closer is not None and self.rich:
            closer()

    def set_key(self, g: CodeWriter, value: str) -> None:
        """Make the record's key the current one, for functions that may use keyed state."""
        if self.key is not None and self.rich:
            g.line(f"{g.bind(self.context.key_context, 'keyed')}.key = {g.call(self.key.call, value, 'key')}")
            for cleaner in self.context.keyed_state.cleaners:
                g.line(f"{g.bind(cleaner, 'clean')}()")

    def emit_checked(self, g: CodeWriter, value: str, emit: Emit) -> None:
        """Pass on a value, after checking it against the declared type."""
        if self._enforce is not None:
            g.line(f"{value} = {g.bind(self._enforce, 'enforce')}({value})")
        emit(value)

    def enforce_all(self, values: list[Any]) -> list[Any]:
        """The values, checked against the declared type."""
        if self._enforce is None:
            return values
        return [self._enforce(value) for value in values]


_ATOMIC = (int, float, complex, str, bytes, bool, type(None), type, types.ModuleType)
_STORES = {"STORE_GLOBAL", "STORE_ATTR"}
_STATELESS_MODULES = frozenset({"math", "operator", "re", "json", "time", "string", "cmath", "statistics"})


def is_pure(function: Any) -> bool:
    """Whether a function certainly keeps nothing: what it returns is new, or its argument.

    True only for plain functions that use nothing from outside but what cannot change and functions of the same kind.
    Anything else is presumed to keep what it returns, which merely costs a check of each emitted value.
    """
    return _is_pure(function, ())


def _is_pure(function: Any, callers: tuple[Any, ...]) -> bool:
    if not isinstance(function, types.FunctionType):
        return False
    if function in callers:
        return True  # It calls itself: the rest of it decides.
    callers = (*callers, function)
    try:
        captured = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        return False  # A variable that has no value yet.
    given = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return all(_is_harmless(value, callers) for value in (*captured, *given)) and _is_pure_code(
        function.__code__, function.__globals__, callers
    )


def _is_harmless(value: Any, callers: tuple[Any, ...]) -> bool:
    """Whether nothing can be kept in a value from outside."""
    if isinstance(value, types.ModuleType):
        return value.__name__ in _STATELESS_MODULES
    return isinstance(value, _ATOMIC) or _is_pure(value, callers)


def _is_pure_code(code: types.CodeType, names: dict[str, Any], callers: tuple[Any, ...]) -> bool:
    instructions = list(dis.get_instructions(code))
    stores = {i.opname for i in instructions if i.opname in _STORES}
    rebinds = any(i.opname == "STORE_DEREF" and i.argval in code.co_freevars for i in instructions)
    if "STORE_GLOBAL" in stores or rebinds:
        return False  # It may keep what it is given in a variable from outside.
    used = [names[name] for name in code.co_names if name in names]
    if stores and any(isinstance(value, type | types.FunctionType) for value in used):
        return False  # Or in a class or function.
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return (
        all(_is_harmless(value, callers) for value in used)
        and all(_is_pure_code(const, names, callers) for const in inner)
        and not set(code.co_names) & _BACKDOORS
    )


_BACKDOORS = frozenset({"globals", "setattr", "__import__", "exec", "eval"}) & set(dir(builtins))
