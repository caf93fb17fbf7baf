"""Failures: from an exception in a slot to what the user reads.

The user reads their own traceback, the operator's name and the record; frames of the engine are left out.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import spry
from spry.common.errors import CheckpointError, ExecutionError, FailureInfo, InvalidKeyError, StateMigrationError
from spry.common.keys import stable_hash
from spry.runtime.codegen import GeneratedFunction
from spry.runtime.operators.base import Operator

__all__ = ["OperatorFailure", "cut_repr", "explain", "failure_of", "summarize", "user_traceback"]

_ENGINE = str(Path(spry.__file__).parent)
_SHIPPED = "spry-engine-"
"""The engine as remote workers get it."""
_RECORD_LENGTH = 500
_SUMMARY_LENGTH = 2000
_TRACEBACK_LENGTH = 20_000


class OperatorFailure(Exception):
    """An operator failed; ``info`` says how."""

    def __init__(self, info: FailureInfo) -> None:
        super().__init__(info.summary)
        self.info = info


def explain(
    error: BaseException,
    function: GeneratedFunction | None,
    operators: list[Operator],
    index: int | None = None,
    record: str | None = None,
) -> OperatorFailure:
    """The failure that an exception amounts to: which operator, which record."""
    frame = _generated_frame(error.__traceback__, function)
    if frame is not None and function is not None:
        site = function.sites.get(frame.tb_lineno)
        if site is not None:
            index = site.operator
            value = frame.tb_frame.f_locals.get(site.variable)
            record = cut_repr(value)
            if site.inlined is not None and frame.tb_next is None:
                error = _called(site.inlined, value, error)
            if site.key is not None and isinstance(error, TypeError) and "unhashable" in str(error):
                error = _explain_key(site.key, value, error)
    operator = operators[index if index is not None and index >= 0 else 0] if operators else None
    info = FailureInfo(
        summary=summarize(error),
        operator=operator.plan.name if operator else None,
        subtask=f"{operator.context.subtask + 1}/{operator.context.vertex.parallelism}" if operator else None,
        record=record,
        traceback=user_traceback(error),
        final=isinstance(error, StateMigrationError),
    )
    return OperatorFailure(info)


def failure_of(error: BaseException) -> FailureInfo:
    """The failure for anything that went wrong in a slot."""
    if isinstance(error, OperatorFailure):
        return error.info
    # Not in any function of the user's: whoever looks into it needs the engine's frames.
    return FailureInfo(
        summary=summarize(error),
        traceback=user_traceback(error) or _whole_traceback(error),
        checkpoint_unreadable=isinstance(error, CheckpointError) and not isinstance(error, StateMigrationError),
        final=isinstance(error, StateMigrationError),
    )


def summarize(error: BaseException) -> str:
    """The exception's type and message, in a line."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception as reason:
        text = f"<no message: its str() failed with {type(reason).__name__}>"
    return _cut(f"{name}: {text}" if text else name, _SUMMARY_LENGTH)


def user_traceback(error: BaseException) -> str:
    """The traceback without the engine's frames; with its causes."""
    summary = traceback.TracebackException.from_exception(error)
    _leave_out_engine(summary)
    if not _has_frames(summary):
        return ""
    text = "".join(summary.format())
    if len(text) <= _TRACEBACK_LENGTH:
        return text
    half = _TRACEBACK_LENGTH // 2
    return f"{text[:half]}\n... ({len(text) - 2 * half} characters left out) ...\n{text[-half:]}"


def _whole_traceback(error: BaseException) -> str:
    return "" if isinstance(error, ExecutionError | InvalidKeyError) else "".join(traceback.format_exception(error))


def _has_frames(summary: traceback.TracebackException | None) -> bool:
    return summary is not None and (bool(summary.stack) or any(_has_frames(related) for related in _related(summary)))


def _related(summary: traceback.TracebackException) -> list[traceback.TracebackException | None]:
    """Causes, and the members of an exception group."""
    return [summary.__cause__, summary.__context__, *(summary.exceptions or ())]


def _leave_out_engine(summary: traceback.TracebackException | None) -> None:
    if summary is None:
        return
    kept = [f for f in summary.stack if not (f.filename.startswith((_ENGINE, "<spry")) or _SHIPPED in f.filename)]
    summary.stack = traceback.StackSummary.from_list(kept)
    for related in _related(summary):
        _leave_out_engine(related)


def _generated_frame(tb: TracebackType | None, function: GeneratedFunction | None) -> TracebackType | None:
    while tb is not None:
        if function is not None and tb.tb_frame.f_code is function.code:
            return tb
        tb = tb.tb_next
    return None


def _called(function: Any, value: Any, error: BaseException) -> BaseException:
    """The error that an inlined function gives when it is called, with the user's traceback."""
    try:
        function(value)
    except Exception as own:
        if type(own) is type(error):
            own.__context__ = error.__context__
            return own
    return error


def _explain_key(selector: Callable[[Any], Any], value: Any, error: Exception) -> Exception:
    """A dict did not take a key: say which, and what to do."""
    try:
        stable_hash(selector(value))
    except InvalidKeyError as better:
        better.__context__ = None
        return better
    except Exception:
        return error  # The selector itself fails: that is the user's own error.
    return error


def cut_repr(value: Any) -> str:
    """The record for people: its repr, cut."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr failed: {error}>"
    return _cut(text, _RECORD_LENGTH)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."
