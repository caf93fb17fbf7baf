"""Inlining: a simple function's expression, to be written into a chain's generated loop.

A call costs as much as what most small lambdas do. A function of one argument that is a single expression of its
argument and constants (``lambda r: r[0]``, ``lambda i: (i % 1000, i)``, ``lambda r: r.amount > 100``) is read back from
its bytecode as an expression. Anything that is not understood, in whatever version of Python, is simply called.

Such a function has no effects, so when the inlined expression fails, calling the function on the same record gives the
user their own traceback (see ``spry.runtime.failures``).
"""

from __future__ import annotations

import dis
import types
from collections.abc import Callable
from typing import Any

__all__ = ["inline_expression"]

_MAX_LENGTH = 200
_CONSTANTS = (int, float, str, bytes, bool, type(None))
_IGNORED = {"RESUME", "CACHE", "PRECALL", "NOP", "NOT_TAKEN"}
_BINARY = {"+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"}
_COMPARISONS = {"<", "<=", "==", "!=", ">", ">="}
_UNARY = {"UNARY_NEGATIVE": "-", "UNARY_INVERT": "~", "UNARY_NOT": "not "}


def inline_expression(function: Any, argument: str) -> str | None:
    """The function's expression with ``argument`` in place of its parameter, or None if it has to be called.

    >>> inline_expression(lambda r: r[0] + 1, "v")
    '(v[0] + 1)'
    """
    if not isinstance(function, types.FunctionType) or function.__closure__ or function.__defaults__:
        return None
    code = function.__code__
    if (
        code.co_argcount != 1
        or code.co_posonlyargcount
        or code.co_kwonlyargcount
        or code.co_cellvars
        or code.co_nlocals != 1
    ):
        return None
    if code.co_flags & 0x2AC or code.co_exceptiontable:  # *args, **kwargs, generators, coroutines
        return None
    try:
        expression = _expression(code, argument)
    except _NotUnderstoodError:
        return None
    return expression if len(expression) <= _MAX_LENGTH else None


class _NotUnderstoodError(Exception):
    """The function is to be called."""


def _expression(code: types.CodeType, argument: str) -> str:
    """Run the bytecode with texts instead of values."""
    stack: list[str] = []
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in _IGNORED:
            continue
        if name == "RETURN_VALUE" and len(stack) == 1:
            return stack[0]
        if name == "RETURN_CONST":
            return _constant(instruction.argval)
        step = _STEPS.get(name)
        if step is None:
            raise _NotUnderstoodError
        step(stack, instruction, argument)
    raise _NotUnderstoodError


def _constant(value: Any) -> str:
    if value.__class__ is tuple:
        return f"({''.join(_constant(part) + ', ' for part in value)})"
    if value.__class__ not in _CONSTANTS or (value.__class__ is float and value - value != 0):
        raise _NotUnderstoodError
    return f"({value!r})" if isinstance(value, int | float) and value < 0 else repr(value)


def _load_argument(stack: list[str], _: dis.Instruction, argument: str) -> None:
    stack.append(argument)


def _load_argument_twice(stack: list[str], _: dis.Instruction, argument: str) -> None:
    stack.extend((argument, argument))


def _load_constant(stack: list[str], instruction: dis.Instruction, _: str) -> None:
    stack.append(_constant(instruction.argval))


def _subscript(stack: list[str], _: dis.Instruction, __: str) -> None:
    index, container = stack.pop(), stack.pop()
    stack.append(f"{container}[{index}]")


def _attribute(stack: list[str], instruction: dis.Instruction, _: str) -> None:
    name = str(instruction.argval)
    if not name.isidentifier() or (name.startswith("__") and not name.endswith("__")) or _loads_method(instruction):
        raise _NotUnderstoodError
    owner = stack.pop()
    stack.append(f"({owner}).{name}" if owner.isdigit() else f"{owner}.{name}")  # 1.real is no expression.


def _loads_method(instruction: dis.Instruction) -> bool:
    """From Python 3.12 on, one opcode loads attributes and methods."""
    return "NULL" in instruction.argrepr


def _binary(stack: list[str], instruction: dis.Instruction, argument: str) -> None:
    symbol = instruction.argrepr
    if symbol == "[]":
        _subscript(stack, instruction, argument)
        return
    if symbol not in _BINARY:
        raise _NotUnderstoodError
    right, left = stack.pop(), stack.pop()
    stack.append(f"({left} {symbol} {right})")


def _compare(stack: list[str], instruction: dis.Instruction, _: str) -> None:
    symbol = str(instruction.argval)
    if symbol not in _COMPARISONS or instruction.argrepr.startswith("bool"):
        raise _NotUnderstoodError
    right, left = stack.pop(), stack.pop()
    stack.append(f"({left} {symbol} {right})")


def _is(stack: list[str], instruction: dis.Instruction, _: str) -> None:
    right, left = stack.pop(), stack.pop()
    stack.append(f"({left} {'is not' if instruction.arg else 'is'} {right})")


def _contains(stack: list[str], instruction: dis.Instruction, _: str) -> None:
    right, left = stack.pop(), stack.pop()
    stack.append(f"({left} {'not in' if instruction.arg else 'in'} {right})")


def _unary(stack: list[str], instruction: dis.Instruction, _: str) -> None:
    stack.append(f"({_UNARY[instruction.opname]}{stack.pop()})")


def _build(opening: str, closing: str) -> Callable[[list[str], dis.Instruction, str], None]:
    def step(stack: list[str], instruction: dis.Instruction, _: str) -> None:
        count = instruction.arg or 0
        parts = stack[len(stack) - count :]
        del stack[len(stack) - count :]
        comma = "," if count == 1 and opening == "(" else ""
        stack.append(f"{opening}{', '.join(parts)}{comma}{closing}")

    return step


_STEPS: dict[str, Callable[[list[str], dis.Instruction, str], None]] = {
    "LOAD_FAST": _load_argument,
    "LOAD_FAST_BORROW": _load_argument,
    "LOAD_FAST_LOAD_FAST": _load_argument_twice,
    "LOAD_FAST_BORROW_LOAD_FAST_BORROW": _load_argument_twice,
    "LOAD_CONST": _load_constant,
    "LOAD_SMALL_INT": _load_constant,
    "LOAD_CONST_IMMORTAL": _load_constant,
    "BINARY_SUBSCR": _subscript,
    "BINARY_OP": _binary,
    "COMPARE_OP": _compare,
    "IS_OP": _is,
    "CONTAINS_OP": _contains,
    "LOAD_ATTR": _attribute,
    "UNARY_NEGATIVE": _unary,
    "UNARY_INVERT": _unary,
    "UNARY_NOT": _unary,
    "BUILD_TUPLE": _build("(", ")"),
    "BUILD_LIST": _build("[", "]"),
}
