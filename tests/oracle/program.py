"""The programs of the oracle: what is in ``programs/``, and how to load one.

A program imports ``pyflink`` only, and has a function ``define(env)``, which gives the stream whose records are the
result. Besides it may say:

``ORDERED = True``     the records come in this order at parallelism 1; at others, and without it, any order will do
``SLOWLY = True``      records come one after the other, with time between them for watermarks and timers
``FAILS = "text"``     it fails, and the message has this text
``RULES = [...]``      what Flink's rules say, where PyFlink does not do so; the docstring tells what PyFlink does
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

__all__ = ["EXPECTED", "PROGRAMS", "loaded", "names"]

PROGRAMS = Path(__file__).parent / "programs"
EXPECTED = Path(__file__).parent / "expected.json"


def names() -> list[str]:
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


@contextmanager
def loaded(name: str) -> Iterator[ModuleType]:
    """The program, which is ``__main__`` within the block, as if it had been started."""
    path = PROGRAMS / f"{name}.py"
    module = ModuleType("__main__")
    module.__file__ = str(path)
    known = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
        yield module
    finally:
        sys.modules["__main__"] = known
