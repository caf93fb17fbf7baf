"""Running a user's program as ``__main__``, as ``python prog.py`` and ``python -m module`` do.

The program's module stays ``__main__`` until the block ends, not only while its code runs: jobs that it has started and
not waited for still take functions and classes from there.
"""

from __future__ import annotations

import importlib.util
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
            module, code = self._load_module() if self.is_module else self._load_file()
            sys.argv = [str(module.__file__) if self.is_module else self.target, *self.arguments]
            sys.modules["__main__"] = module
            try:
                yield lambda: exec(code, module.__dict__)
            finally:
                sys.argv = known_argv
                if known_main is not None:
                    sys.modules["__main__"] = known_main

    def _load_file(self) -> tuple[ModuleType, CodeType]:
        self.check()
        path = os.path.abspath(self.target)
        with io.open_code(path) as file:
            code = compile(file.read(), path, "exec")
        module = ModuleType("__main__")
        module.__file__ = path
        module.__dict__["__builtins__"] = __builtins__
        return module, code

    def _find_module(self) -> importlib.machinery.ModuleSpec:
        name = self.target
        try:
            spec = importlib.util.find_spec(name)
            if spec is not None and spec.submodule_search_locations is not None:
                name += ".__main__"
                spec = importlib.util.find_spec(name)
        except (ImportError, ValueError) as error:
            raise ProgramNotFoundError(f"module '{self.target}' cannot be run: {error}") from None
        if spec is None:
            raise ProgramNotFoundError(f"there is no module '{name}' in {os.getcwd()} or on the Python path")
        return spec

    def _load_module(self) -> tuple[ModuleType, CodeType]:
        spec = self._find_module()
        get_code = getattr(spec.loader, "get_code", None)
        code = get_code(spec.name) if get_code is not None else None
        if code is None:
            raise ProgramNotFoundError(f"module '{self.target}' has no Python code to run")
        module = ModuleType("__main__")
        module.__file__ = spec.origin
        module.__spec__ = spec
        module.__loader__ = spec.loader
        module.__package__ = spec.parent
        module.__dict__["__builtins__"] = __builtins__
        return module, code


@contextmanager
def _path_first(directory: str) -> Iterator[None]:
    known = list(sys.path)
    sys.path.insert(0, directory)
    try:
        yield
    finally:
        sys.path[:] = known
