"""How failures are shown: the message alone for Spry's own errors, the user's traceback for the program's."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

import spry
from spry.cli.program import ProgramNotFoundError
from spry.common.configuration import ConfigurationError
from spry.common.errors import ExecutionError, InvalidKeyError, InvalidProgramError, UnpicklableError

__all__ = ["describe", "show"]

_ENGINE = str(Path(spry.__file__).parent)
_OWN = (
    ProgramNotFoundError,
    ExecutionError,
    ConfigurationError,
    InvalidProgramError,
    InvalidKeyError,
    UnpicklableError,
)
_IN_THE_PROGRAM = (ConfigurationError, InvalidProgramError, InvalidKeyError, UnpicklableError)
"""Errors that a line of the program causes, so that the line is worth showing."""


def show(error: BaseException) -> None:
    """Write the failure to standard error."""
    sys.stdout.flush()
    sys.stderr.write(describe(error) + "\n")


def describe(error: BaseException) -> str:
    """The failure as text."""
    if isinstance(error, _OWN):
        where = _where(error) if isinstance(error, _IN_THE_PROGRAM) else ""
        return f"spry: {error}{where}"
    summary = traceback.TracebackException.from_exception(error)
    _leave_out_engine(summary)
    return "".join(summary.format()).rstrip("\n")


def _leave_out_engine(summary: traceback.TracebackException | None) -> None:
    if summary is not None:
        kept = [frame for frame in summary.stack if not _is_engine(frame)]
        summary.stack = traceback.StackSummary.from_list(kept)
        _leave_out_engine(summary.__cause__)
        _leave_out_engine(summary.__context__)


def _is_engine(frame: traceback.FrameSummary) -> bool:
    return frame.filename.startswith((_ENGINE, "<spry", "<frozen ", "<string>"))


def _where(error: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_engine(frame)]
    if not frames:
        return ""
    last = frames[-1]
    return f"\n  at {last.filename}, line {last.lineno}: {last.line}"
