"""Running a user's program as ``__main__``, as ``python prog.py`` and ``python -m module`` do.

The program's module stays ``__main__`` until the block ends, not only while its code runs: jobs that it has started and
not waited for still take functions and classes from there.
"""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

__all__ = ["Program", "ProgramNotFoundError"]


class ProgramNotFoundError(Exception):
    """There is no such program."""


@dataclass(frozen=True)
class Program:
    """A program file, or a module, with its arguments."""

    target: str
    arguments: tuple[str, ...] = ()
    is_module: bool = False

    @property
    def name(self) -> str:
        """A short name, for file names."""
        return self.target if self.is_module else os.path.splitext(os.path.basename(self.target))[0]

    def check(self) -> None:
        """Raise :class:`ProgramNotFoundError` if there is no such program."""
        if self.is_module:
            with _path_first(os.getcwd()):
                self._find_module()
        elif not os.path.isfile(self.target):
            what = "is a directory" if os.path.isdir(self.target) else "does not exist"
            raise ProgramNotFoundError(f"program '{self.target}' {what}")

    @contextmanager
    def installed(self) -> Iterator[Callable[[], None]]:
        """Within the block the program is ``__main__``; what is given runs its code."""
        directory = os.getcwd() if self.is_module else os.path.dirname(os.path.abspath(self.target))
        known_argv, known_main = sys.argv, sys.modules.get("__main__")
        with _path_first(directory):
            module = self._make_module()
            sys.argv = [str(module.__file__) if self.is_module else self.target, *self.arguments]
            sys.modules["__main__"] = module
            try:
                yield lambda: exec(self._compile(module), module.__dict__)
            finally:
                sys.argv = known_argv
                if known_main is not None:
                    sys.modules["__main__"] = known_main

    def _make_module(self) -> ModuleType:
        module = ModuleType("__main__")
        module.__dict__["__builtins__"] = builtins
        if self.is_module:
            spec = self._find_module()
            module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, spec.parent
            module.__file__ = spec.origin
        else:
            module.__file__ = os.path.abspath(self.target)
        return module

    def _compile(self, module: ModuleType) -> CodeType:
        path = str(module.__file__)
        if module.__spec__ is None:
            with io.open_code(path) as file:
                return compile(file.read(), path, "exec")
        get_code = getattr(module.__loader__, "get_code", None)
        code: CodeType | None = get_code(module.__spec__.name) if get_code is not None else None
        if code is None:
            raise ProgramNotFoundError(f"module '{self.target}' has no Python code to run")
        return code

    def _find_module(self) -> ModuleSpec:
        name = self.target
        try:
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.submodule_search_locations is not None:
                name += ".__main__"
                spec = importlib.util.find_spec(name)
        except Exception as error:  # Packages on the way are imported, and may fail in any way.
            raise ProgramNotFoundError(
                f"module '{self.target}' cannot be run: {type(error).__name__}: {error}"
            ) from None
        if spec is None:
            raise ProgramNotFoundError(f"there is no module '{name}' in {os.getcwd()} or on the Python path")
        return spec


@contextmanager
def _path_first(directory: str) -> Iterator[None]:
    known = list(sys.path)
    sys.path.insert(0, directory)
    try:
        yield
    finally:
        sys.path[:] = known
