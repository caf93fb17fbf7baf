"""What a benchmark is: engines that do the same work, or a program that reports figures of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Benchmark", "Engine", "Report", "Workload"]


@dataclass(frozen=True)
class Engine:
    """One program of a workload.

    The program is run as `python -m MODULE --records N [--data FILE] ARGUMENTS OPTIONS` and prints, as its
    last line, `{"records": n, "seconds": s, "result": {...}}` (see `bench.program`).
    """

    name: str
    module: str
    records: int
    """Input size. Slow engines get less, so that every run takes seconds, not minutes."""
    measured: str
    """What the time covers, in words."""
    arguments: tuple[str, ...] = ()
    """What defines the work, and so what the reference is given too."""
    options: tuple[str, ...] = ()
    """What this engine alone is given."""
    environment: str = ""
    """Name of the peer environment (see `bench.peers`) that runs it; Spry's own when empty."""
    needed_by: str = ""
    """Runs only if this engine runs too. For programs that put another engine's figure in proportion."""


@dataclass(frozen=True)
class Workload:
    """The same work done by several engines, whose results must agree with those of the reference."""

    name: str
    summary: str
    engines: tuple[Engine, ...]
    reference: str = "loop"
    prepare: Callable[[Path, int], Path] | None = None
    """Makes the input file for so many records, in the given directory."""
    extra: Callable[[Mapping[str, float]], dict[str, float]] | None = None
    """Further figures, computed from the median rates by engine."""

    def engine(self, name: str) -> Engine:
        return next(engine for engine in self.engines if engine.name == name)

    @property
    def peers(self) -> tuple[str, ...]:
        """The engines that one may choose: all but Spry and what runs only beside others."""
        return tuple(e.name for e in self.engines if e.name != "spry" and not e.needed_by)


@dataclass(frozen=True)
class Report:
    """A program that measures something else than records per second and brings its own table.

    It is run as `python -m MODULE ARGUMENTS` under Spry's interpreter and prints, as its last line, an object
    with `rates` (name -> number) and, as it likes, `ratios` and `figures` (name -> number), `columns` and `rows`
    (a table), `notes` (sentences below the table) and `details` (anything, for the JSON only). `bench.reports`
    helps with that.
    """

    name: str
    summary: str
    module: str
    arguments: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    """Those of `--records`, `--runs` and `--epochs` that it takes from the command line, without the dashes."""
    timeout_seconds: int = 900


Benchmark = Workload | Report
