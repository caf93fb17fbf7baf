"""Writing Python: a small helper for the functions that are generated for operator chains.

In Python a call per record and per layer is what costs. So a chain's records run through one generated loop that calls
nothing but the user's functions. What the loop needs from outside is *bound*: given to the generated function as a
closure variable. Each line may note which operator it belongs to and which variable holds that operator's input, so
that an exception can be traced to the operator and the record without any cost on the way.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from types import CodeType
from typing import Any

from spry.runtime.inlining import inline_expression

__all__ = ["CodeWriter", "GeneratedFunction", "Site"]

_numbers = count()


@dataclass(frozen=True, slots=True)
class Site:
    """What a generated line works on: the operator's index in its chain, and the variable with its input."""

    operator: int
    variable: str
    inlined: Callable[[Any], Any] | None = None
    """The function whose expression stands in the line."""
    key: Callable[[Any], Any] | None = None
    """The key selector, if the line looks a key up."""


@dataclass(frozen=True, slots=True)
class GeneratedFunction:
    """A generated function and where its lines come from."""

    call: Callable[..., None]
    code: CodeType
    source: str
    sites: dict[int, Site]


class CodeWriter:
    """Collects lines, names and bindings of one function."""

    def __init__(self, name: str, parameters: str) -> None:
        self._name = name
        self._parameters = parameters
        self._lines: list[str] = []
        self._sites: dict[int, Site] = {}
        self._bindings: dict[str, Any] = {}
        self._used = count()
        self._site: Site | None = None
        self._inlined: tuple[Callable[[Any], Any], str] | None = None
        self.indent = 0
        self.loops = 0
        self.operators = 0
        """How many operators enclose what is being written."""

    def fresh(self, hint: str) -> str:
        """A variable name that is not used yet."""
        return f"{re.sub(r'[^a-z_]', '', hint.lower()) or 'x'}{next(self._used)}"

    def bind(self, value: Any, hint: str) -> str:
        """A name for something from outside."""
        for name, known in self._bindings.items():
            if known is value:
                return name
        name = self.fresh(hint)
        self._bindings[name] = value
        return name

    def call(self, function: Callable[[Any], Any], argument: str, hint: str) -> str:
        """An expression for the function of a variable: inlined if it is simple, else a call.

        To be used in the very next line.
        """
        expression = inline_expression(function, argument)
        if expression is None:
            return f"{self.bind(function, hint)}({argument})"
        self._inlined = (function, argument)
        return expression

    def line(self, text: str, key: Callable[[Any], Any] | None = None) -> None:
        """One line of code at the current indentation; ``key`` if it looks a key up in a dict."""
        self._lines.append("    " * (self.indent + 2) + text)
        if self._site is not None:
            site = self._site
            if self._inlined is not None:
                site = replace(site, variable=self._inlined[1], inlined=self._inlined[0])
            if key is not None:
                site = replace(site, key=key)
            self._sites[len(self._lines)] = site
        self._inlined = None

    @contextmanager
    def block(self, head: str, loop: bool = False) -> Iterator[None]:
        """An indented block under its head line."""
        self.line(head)
        self.indent += 1
        self.loops += loop
        try:
            yield
        finally:
            self.indent -= 1
            self.loops -= loop

    @contextmanager
    def site(self, operator: int, variable: str) -> Iterator[None]:
        """The lines within belong to this operator and work on this variable."""
        outer, self._site = self._site, Site(operator, variable)
        try:
            yield
        finally:
            self._site = outer

    def build(self) -> GeneratedFunction:
        """Compile what was written."""
        head = [f"def _make({', '.join(self._bindings)}):", f"    def {self._name}({self._parameters}):"]
        body = self._lines or ["        pass"]
        source = "\n".join([*head, *body, f"    return {self._name}"]) + "\n"
        filename = f"<spry chain {next(_numbers)}>"
        namespace: dict[str, Any] = {}
        exec(compile(source, filename, "exec"), namespace)
        function = namespace["_make"](**self._bindings)
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        sites = {number + len(head): site for number, site in self._sites.items()}
        return GeneratedFunction(function, function.__code__, source, sites)
