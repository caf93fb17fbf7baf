"""The operator chain of one subtask: its operators, and the generated functions that records run through.

A chain is a tree. Records that enter it (at the head, or behind any operator that emits by itself) run through one
generated function that contains the whole subtree: a loop over the records, the user's functions, and the appends to
the writers' buffers. The subtree is cut where an operator takes batches, and where nesting would grow too deep for
Python; there records wait in a list (a *segment*) until the loop is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from spry.common.elements import NO_TIMESTAMP, ControlElement, EndOfInput, Watermark, WatermarkStatus
from spry.runtime.blocks import detach
from spry.runtime.codegen import CodeWriter, GeneratedFunction
from spry.runtime.failures import OperatorFailure, explain
from spry.runtime.operators.base import Operator, Output
from spry.runtime.writers import Writer

__all__ = ["OperatorChain"]

_MAX_LOOPS = 12
_MAX_INDENT = 60
_MAX_OPERATORS = 100
_ATOMIC = frozenset({int, str, float, bool, bytes, type(None), complex})

Key = tuple[int | None, str | None]
"""An exit of the chain: operator index (None: the chain's input) and side output tag (None: the main output)."""


class _Segment:
    """Records on their way to what the loop cannot contain."""

    __slots__ = ("process", "timestamps", "values")

    def __init__(self, process: Callable[[Sequence[Any], Sequence[int] | None], None]) -> None:
        self.process = process
        self.values: list[Any] = []
        self.timestamps: list[int] = []

    def drain(self) -> None:
        if self.values:
            values, stamps = self.values[:], self.timestamps[:] if self.timestamps else None
            self.values.clear()
            self.timestamps.clear()
            self.process(values, stamps)


class _Entry:
    """The function for records that go to everything behind one exit; compiled on first use."""

    __slots__ = ("_chain", "_key", "_plain", "_segments", "_timestamped")

    def __init__(self, chain: OperatorChain, key: Key) -> None:
        self._chain = chain
        self._key = key
        self._plain: GeneratedFunction | None = None
        self._timestamped: GeneratedFunction | None = None
        self._segments: list[_Segment] = []

    def run(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        chain = self._chain
        if timestamps is not None and not chain.timestamped:
            chain.switch_to_timestamps()
        function: GeneratedFunction | None
        try:
            if chain.timestamped:
                function = self._timestamped
                if function is None:
                    function = self._timestamped = self._compile(True)
                function.call(values, repeat(NO_TIMESTAMP) if timestamps is None else timestamps)
            else:
                function = self._plain
                if function is None:
                    function = self._plain = self._compile(False)
                function.call(values)
        except OperatorFailure:
            raise
        except BaseException as error:  # Whatever the user's functions raise: SystemExit, too, and CancelledError.
            raise explain(error, function, chain.operators) from None
        for segment in self._segments:
            segment.drain()

    def _compile(self, timestamped: bool) -> GeneratedFunction:
        self._segments.clear()
        g = CodeWriter("run", "values, timestamps" if timestamped else "values")
        value, stamp = g.fresh("v"), g.fresh("t") if timestamped else None
        source = f"for {value}, {stamp} in zip(values, timestamps):" if timestamped else f"for {value} in values:"
        with g.block(source, loop=True):
            operator, tag = self._key
            self._generate(g, operator, tag, value, stamp, self._chain.retains(operator, tag))
            g.line("pass")
        return g.build()

    def _generate(
        self, g: CodeWriter, operator: int | None, tag: str | None, value: str, stamp: str | None, retained: bool
    ) -> None:
        """Code that gives the record in ``value`` to everything behind an exit."""
        chain = self._chain
        children, writers = chain.children.get((operator, tag), []), chain.writers.get((operator, tag), [])
        consumers: list[Operator | Writer] = [*writers, *(chain.operators[child] for child in children)]
        if retained and writers and not chain.object_reuse:
            self._detach(g, value, value)
            retained = False
        copies = [value] * len(consumers)
        if len(consumers) > 1 and not chain.object_reuse:
            copies = [g.fresh("c") for _ in consumers[1:]] + [value]
            for copy in copies[:-1]:
                self._detach(g, copy, value)
        held = retained and not chain.object_reuse
        for consumer, variable in zip(consumers, copies, strict=True):
            retained = held and variable == value
            if isinstance(consumer, Writer):
                with g.site(-1 if operator is None else operator, variable):
                    consumer.generate(g, variable, stamp)
                continue
            index = chain.operators.index(consumer)
            if retained and consumer.may_keep:
                self._detach(g, variable, variable)
                retained = False
            if consumer.takes_batches:
                self._cut(g, variable, stamp, partial(chain.guard, index, consumer.process_batch), retained)
            elif g.loops >= _MAX_LOOPS or g.indent >= _MAX_INDENT or g.operators >= _MAX_OPERATORS:
                self._cut(g, variable, stamp, chain.entry_at(index).run, retained)
            else:
                self._generate_operator(g, index, variable, stamp, retained)

    @staticmethod
    def _detach(g: CodeWriter, target: str, value: str) -> None:
        call, atomic = g.bind(detach, "detach"), g.bind(_ATOMIC, "atomic")
        if target == value:
            g.line(f"if {value}.__class__ not in {atomic}: {value} = {call}({value})")
        else:
            g.line(f"{target} = {value} if {value}.__class__ in {atomic} else {call}({value})")

    def _generate_operator(self, g: CodeWriter, index: int, value: str, stamp: str | None, retained: bool) -> None:
        operator = self._chain.operators[index]
        side_retained = retained or operator.retains
        retained = side_retained and not operator.fresh

        def emit_side(tag_expression: str, result: str) -> None:
            known = [tag for (source, tag) in self._chain.exits() if source == index and tag is not None]
            for number, tag in enumerate(known):
                with g.block(f"{'el' if number else ''}if {tag_expression} == {tag!r}:"):
                    self._enforce_side(g, index, tag, result)
                    self._generate(g, index, tag, result, stamp, side_retained)
            if not known:
                g.line("pass")

        def emit_main(result: str) -> None:
            self._generate(g, index, None, result, stamp, retained)
            g.line("pass")

        g.operators += 1
        with g.site(index, value):
            operator.generate(g, value, stamp, lambda result: operator.generate_tagged(g, result, emit_main, emit_side))
        g.operators -= 1

    def _enforce_side(self, g: CodeWriter, index: int, tag: str, value: str) -> None:
        enforce = self._chain.side_enforcers.get((index, tag))
        if enforce is not None:
            g.line(f"{value} = {g.bind(enforce, 'enforce')}({value})")

    def _cut(
        self,
        g: CodeWriter,
        value: str,
        stamp: str | None,
        process: Callable[[Sequence[Any], Sequence[int] | None], None],
        retained: bool,
    ) -> None:
        segment = _Segment(process)
        self._segments.append(segment)
        if retained and not self._chain.object_reuse:
            self._detach(g, value, value)
        g.line(f"{g.bind(segment.values.append, 'put')}({value})")
        if stamp is not None:
            g.line(f"{g.bind(segment.timestamps.append, 'stamp')}({stamp})")


class _ChainOutput(Output):
    """What an operator emits by itself goes to everything behind it."""

    def __init__(self, chain: OperatorChain, index: int) -> None:
        self._chain = chain
        self._index = index

    def emit(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        self._chain.entry((self._index, None)).run(values, timestamps)

    def emit_side(self, tag: str, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        if (self._index, tag) in self._chain.exits():
            enforce = self._chain.side_enforcers.get((self._index, tag))
            if enforce is not None:
                values = [enforce(value) for value in values]
            self._chain.entry((self._index, tag)).run(values, timestamps)

    def emit_watermark(self, timestamp: int) -> None:
        self._chain.pass_control(self._index, Watermark(timestamp))

    def emit_status(self, idle: bool) -> None:
        self._chain.pass_control(self._index, WatermarkStatus(idle))


def _only_passes_on(operator: Operator, element: ControlElement) -> bool:
    """Whether the operator has nothing of its own to do with the element."""
    kind = type(operator)
    if isinstance(element, Watermark):
        return kind.process_watermark is Operator.process_watermark
    return isinstance(element, WatermarkStatus) and kind.process_status is Operator.process_status


class OperatorChain:
    """The operators of one subtask and what they write to."""

    def __init__(
        self,
        operators: list[Operator],
        writers: dict[Key, list[Writer]],
        side_enforcers: dict[tuple[int, str], Callable[[Any], Any]],
        object_reuse: bool,
    ) -> None:
        self.operators = operators
        self.writers = writers
        self.side_enforcers = side_enforcers
        self.object_reuse = object_reuse
        self.timestamped = False
        self.children: dict[Key, list[int]] = {}
        for index, operator in enumerate(operators):
            operator.output = _ChainOutput(self, index)
            self.children.setdefault((operator.plan.parent, operator.plan.parent_tag), []).append(index)
        self._exits_of: dict[int | None, list[Key]] = {}
        for key in dict.fromkeys([*self.children, *self.writers]):
            self._exits_of.setdefault(key[0], []).append(key)
        self._entries: dict[Key, _Entry] = {}
        self._single: dict[int, _Entry] = {}

    # Records

    def exits(self) -> set[Key]:
        """Every exit that something is behind."""
        return {*self.children, *self.writers}

    def retains(self, index: int | None, tag: str | None) -> bool:
        """Whether what comes out at this exit may be held by somebody before it."""
        at = index
        while at is not None:
            if self.operators[at].fresh and (tag is None or at != index):
                return False
            if self.operators[at].retains:
                return True
            at = self.operators[at].plan.parent
        return False

    def entry(self, key: Key) -> _Entry:
        """The function for records behind an exit."""
        found = self._entries.get(key)
        if found is None:
            found = self._entries[key] = _Entry(self, key)
        return found

    def entry_at(self, index: int) -> _Entry:
        """The function for records that enter one operator, where the chain is cut for depth."""
        found = self._single.get(index)
        if found is None:
            found = self._single[index] = _SingleEntry(self, index)
        return found

    def process(self, values: Sequence[Any], timestamps: Sequence[int] | None) -> None:
        """Records from the chain's input."""
        head = self.operators[0]
        if head.takes_batches:
            self.guard(0, head.process_batch, values, timestamps)
        else:
            self.entry((None, None)).run(values, timestamps)

    def switch_to_timestamps(self) -> None:
        """The stream has timestamps: from now on every buffer keeps them."""
        self.timestamped = True
        for writers in self.writers.values():
            for writer in writers:
                writer.switch_to_timestamps()

    # Control

    def pass_control(self, index: int, element: ControlElement) -> None:
        """A control element goes from an operator to everything behind it, side outputs too."""
        behind = [index]
        while behind:  # Without recursion through operators that only pass it on, as chains may be long.
            at = behind.pop()
            for key in self._exits_of.get(at, ()):
                for writer in self.writers.get(key, ()):
                    writer.control(element)
                for child in self.children.get(key, ()):
                    if _only_passes_on(self.operators[child], element):
                        behind.append(child)
                    else:
                        self._control(child, element)

    def _control(self, index: int, element: ControlElement) -> None:
        operator = self.operators[index]
        if isinstance(element, Watermark):
            self.guard(index, operator.process_watermark, element.timestamp)
        elif isinstance(element, WatermarkStatus):
            self.guard(index, operator.process_status, element.idle)

    def control(self, element: ControlElement) -> None:
        """A control element from the chain's input."""
        self._control(0, element)

    # Life

    def guard(self, index: int, call: Callable[..., Any], *args: Any) -> None:
        """Call into an operator; what goes wrong is that operator's failure."""
        try:
            call(*args)
        except OperatorFailure:
            raise
        except BaseException as error:
            raise explain(error, None, self.operators, index) from None

    def open(self) -> None:
        """Open every operator, the last one first, as whoever is behind must be ready for what comes."""
        for index in reversed(range(len(self.operators))):
            self.guard(index, self.operators[index].open)

    def finish(self) -> None:
        """The input has ended: every operator emits what it still has, then the end goes out."""
        for index, operator in enumerate(self.operators):
            self.guard(index, operator.finish)
        for writers in self.writers.values():
            for writer in writers:
                writer.control(EndOfInput())

    def close(self) -> None:
        """Close every operator, even if some fail; the first failure is raised."""
        failure: OperatorFailure | None = None
        for index, operator in enumerate(self.operators):
            try:
                self.guard(index, operator.close)
            except OperatorFailure as error:
                failure = failure or error
        if failure is not None:
            raise failure

    def flush(self, everything: bool) -> None:
        """Let the writers pass on what is ready, or all."""
        for writers in self.writers.values():
            for writer in writers:
                writer.flush(everything)


class _SingleEntry(_Entry):
    """Like :class:`_Entry`, for records that enter one operator."""

    __slots__ = ("_index",)

    def __init__(self, chain: OperatorChain, index: int) -> None:
        super().__init__(chain, (None, None))
        self._index = index

    def _generate(
        self, g: CodeWriter, operator: int | None, tag: str | None, value: str, stamp: str | None, retained: bool
    ) -> None:
        if operator is None:
            self._generate_operator(g, self._index, value, stamp, False)
        else:
            super()._generate(g, operator, tag, value, stamp, retained)
