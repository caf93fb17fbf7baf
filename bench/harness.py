"""Runs the programs of a benchmark and turns what they print into medians, ratios and an agreement."""

import json
import os
import signal
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import peers
from bench.model import Engine, Report, Workload

__all__ = [
    "BenchError",
    "Measurement",
    "Outcome",
    "Settings",
    "run_report",
    "run_workload",
    "selected_engines",
]

DATA = peers.ROOT / ".bench" / "data"
TIMEOUT_SECONDS = 900
RUNS = 3


class BenchError(Exception):
    """A program failed, or results do not agree: no figure of this run is worth anything."""


@dataclass(frozen=True)
class Settings:
    """What the command line chose."""

    say: Callable[[str], None]
    peers: tuple[str, ...] | None = None
    """Names of the peers to run; all of them when None."""
    runs: int | None = None
    """Runs per engine; 3 when None, or what a report has for its own."""
    records: int | None = None
    """Input size for every engine, instead of each one's own."""
    epochs: int | None = None
    """Epochs for the reports that count in epochs, instead of each one's own."""
    spry: bool = True


@dataclass(frozen=True)
class Measurement:
    """What one program printed."""

    records: int
    seconds: float
    result: Mapping[str, int]

    @property
    def rate(self) -> float:
        return self.records / self.seconds


@dataclass
class Outcome:
    """The figures of one benchmark, ready to print."""

    name: str
    summary: str
    rates: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)
    extra: dict[str, float] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    """What a report's table holds, for programs."""
    details: Any = None

    def to_json(self) -> str:
        shown: dict[str, Any] = {"name": self.name, "rates": self.rates, "ratios": self.ratios}
        if self.extra:
            shown["extra"] = self.extra
        if self.figures:
            shown["figures"] = self.figures
        if self.details is not None:
            shown["details"] = self.details
        return json.dumps(shown)


def run_program(module: str, arguments: Sequence[str], python: Path, timeout: int = TIMEOUT_SECONDS) -> dict[str, Any]:
    """Run one program in a process of its own; return the object on its last line."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(
            [str(python), "-m", module, *arguments],
            cwd=peers.ROOT,
            env=peers.process_environment(python),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=timeout)
        except BaseException as stopped:
            os.killpg(process.pid, signal.SIGKILL)  # the program and the JVM or workers that it started
            process.wait()
            if isinstance(stopped, subprocess.TimeoutExpired):
                raise BenchError(f"{module} did not end within {timeout} s") from None
            raise
        if process.returncode == 0 and output.strip():
            try:
                printed = json.loads(output.strip().splitlines()[-1])
            except ValueError:
                printed = None
            if isinstance(printed, dict):
                return printed
        errors.seek(0)
        tail = (errors.read() + "\n" + output).strip()[-3000:]
    raise BenchError(f"{module} failed with exit code {process.returncode}:\n{tail}")


def measure(workload: Workload, engine: Engine, records: int, python: Path) -> Measurement:
    """Run an engine's program once."""
    arguments = ["--records", str(records), *engine.arguments, *engine.options]
    if workload.prepare is not None:
        arguments += ["--data", str(workload.prepare(DATA, records))]
    printed = run_program(engine.module, arguments, python)
    return Measurement(printed["records"], printed["seconds"], printed["result"])


def selected_engines(workload: Workload, settings: Settings) -> list[Engine]:
    """The engines to run; a peer that was named and that this workload lacks is left out."""
    names = set(workload.peers if settings.peers is None else settings.peers)
    if settings.spry:
        names.add("spry")
    return [engine for engine in workload.engines if (engine.needed_by or engine.name) in names]


def run_workload(workload: Workload, settings: Settings) -> Outcome:
    """Run the engines in turns, so that the machine's noise hits all alike; check that they agree."""
    say = settings.say
    notes: list[str] = []
    chosen: list[tuple[Engine, int, Path]] = []
    for engine in selected_engines(workload, settings):
        try:
            python = peers.interpreter(engine.environment, say)
        except peers.PeerError as problem:
            if settings.peers is not None:
                raise BenchError(str(problem)) from None
            say(f"leaving out {engine.name}: {problem}")
            notes.append(f"{engine.name} was left out: it cannot be installed here")
            continue
        chosen.append((engine, settings.records or engine.records, python))
    if not chosen:
        raise BenchError(f"{workload.name}: none of the chosen engines is part of this benchmark")

    runs: dict[str, list[Measurement]] = {engine.name: [] for engine, _, _ in chosen}
    turns = settings.runs or RUNS
    for turn in range(turns):
        for engine, records, python in chosen:
            measurement = measure(workload, engine, records, python)
            runs[engine.name].append(measurement)
            say(f"run {turn + 1}/{turns} {engine.name:<14} {measurement.rate:>14,.0f} records/s")
    check_agreement(workload, chosen, runs)
    return summarise(workload, [engine for engine, _, _ in chosen], runs, notes)


def check_agreement(
    workload: Workload, chosen: Sequence[tuple[Engine, int, Path]], runs: Mapping[str, Sequence[Measurement]]
) -> None:
    """Compare every result with the reference's for the same input; raise if one differs."""
    reference = workload.engine(workload.reference)
    expected: dict[tuple[int, tuple[str, ...]], Mapping[str, int]] = {}
    for engine, records, _ in chosen:
        if engine.name == reference.name:
            expected[(records, engine.arguments)] = runs[engine.name][0].result
    for engine, records, _ in chosen:
        case = (records, engine.arguments)
        if case not in expected:
            twin = Engine(reference.name, reference.module, records, reference.measured, engine.arguments)
            python = peers.interpreter(reference.environment, lambda _: None)
            expected[case] = measure(workload, twin, records, python).result
        for measurement in runs[engine.name]:
            if measurement.result != expected[case]:
                raise BenchError(
                    f"{workload.name}: {engine.name} and {reference.name} disagree on {records:,} records:\n"
                    f"  {engine.name}: {dict(measurement.result)}\n"
                    f"  {reference.name}: {dict(expected[case])}"
                )


def summarise(
    workload: Workload,
    engines: Sequence[Engine],
    runs: Mapping[str, Sequence[Measurement]],
    notes: Sequence[str] = (),
) -> Outcome:
    """Medians, ratios and the table."""
    outcome = Outcome(workload.name, workload.summary, notes=list(notes))
    outcome.rates = {engine.name: round(statistics.median(m.rate for m in runs[engine.name]), 1) for engine in engines}
    spry = outcome.rates.get("spry")
    for engine in engines:
        if spry is not None and engine.name in workload.peers:
            outcome.ratios[f"spry/{engine.name}"] = round(spry / outcome.rates[engine.name], 4)
    if workload.extra is not None:
        outcome.extra = {key: round(value, 3) for key, value in workload.extra(outcome.rates).items()}
    outcome.columns = ["engine", "records/s", "slowest", "fastest", "runs", "records"]
    if spry is not None:
        outcome.columns.append("spry is")
    for engine in engines:
        measured = [m.rate for m in runs[engine.name]]
        row = [
            engine.name,
            *(f"{x:,.0f}" for x in (outcome.rates[engine.name], min(measured), max(measured))),
        ]
        row += [str(len(measured)), f"{runs[engine.name][0].records:,}"]
        if spry is not None:
            ratio = outcome.ratios.get(f"spry/{engine.name}")
            row.append("" if ratio is None else f"{ratio:,.2f} x")
        outcome.rows.append(row)
        if not engine.needed_by:
            outcome.notes.append(f"{engine.name}: {engine.measured}")
    return outcome


def run_report(report: Report, settings: Settings) -> Outcome:
    """Run a program that brings its own figures."""
    chosen = {"records": settings.records, "runs": settings.runs, "epochs": settings.epochs}
    arguments = list(report.arguments)
    for option in report.options:
        if chosen[option] is not None:
            arguments += [f"--{option}", str(chosen[option])]
    settings.say("running ...")
    printed = run_program(report.module, arguments, peers.interpreter("", settings.say), report.timeout_seconds)
    return Outcome(
        report.name,
        report.summary,
        rates=printed["rates"],
        ratios=printed.get("ratios", {}),
        figures=printed.get("figures", {}),
        columns=printed.get("columns", ["figure", "value"]),
        rows=[
            [str(cell) for cell in row]
            for row in printed.get("rows", [[name, f"{value:,}"] for name, value in printed["rates"].items()])
        ],
        notes=printed.get("notes", []),
        details=printed.get("details"),
    )
