"""Tables for people: on the screen, and in a Markdown file."""

import os
import platform
import re
from collections.abc import Iterator, Sequence
from datetime import date

from bench.harness import Outcome

__all__ = ["as_markdown", "as_text", "results_page"]


def _lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as needed; the first to the left, figures to the right."""
    cells = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def as_text(outcome: Outcome) -> str:
    """A benchmark's figures for a terminal."""
    header, *body = _lines(outcome.columns, outcome.rows)
    parts = [f"{outcome.name}: {outcome.summary}", "", header, "-" * len(header), *body]
    if outcome.extra:
        parts += ["", *_lines(("figure", "value"), [(k, f"{v:,}") for k, v in outcome.extra.items()])[1:]]
    if outcome.notes:
        parts += ["", *(f"  {note}" for note in outcome.notes)]
    return "\n".join(parts)


def as_markdown(outcome: Outcome) -> str:
    """A benchmark's figures as a section of a Markdown page."""
    parts = [f"## {outcome.name}", "", f"{outcome.summary}.", ""]
    parts.append("| " + " | ".join(outcome.columns) + " |")
    parts.append("|---" + "|--:" * (len(outcome.columns) - 1) + "|")
    parts += ["| " + " | ".join(row) + " |" for row in outcome.rows]
    if outcome.extra:
        parts += ["", *(f"- {key}: {value:,}" for key, value in outcome.extra.items())]
    if outcome.notes:
        parts += ["", "What the time covers:", "", *(f"- {note}" for note in outcome.notes)]
    return "\n".join(parts)


def results_page(outcomes: Sequence[Outcome], known: str = "") -> str:
    """The whole page that `--save` writes. Of benchmarks that were not run, it keeps what the known page says."""
    machine = (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} CPUs, "
        f"Python {platform.python_version()}, {date.today().isoformat()}"
    )
    head = [
        "# Benchmark results",
        "",
        f"Written by `python -m bench --save` on: {machine}.",
        "",
        "Rates are records per second: the median of the runs, with the slowest and the fastest beside it.",
        "Engines run in turns, each in a process of its own; their results were compared and agree.",
        "A benchmark's section is that of its last run with `--save`.",
        "",
    ]
    sections = dict(_sections(known)) | dict(_sections("\n\n".join(as_markdown(outcome) for outcome in outcomes)))
    return "\n".join(head) + "\n" + "\n\n".join(sections[name] for name in sorted(sections)) + "\n"


def _sections(page: str) -> Iterator[tuple[str, str]]:
    """The sections of a page, by benchmark."""
    for part in re.split(r"^(?=## )", page, flags=re.MULTILINE):
        if part.startswith("## "):
            yield part[3:].partition("\n")[0], part.strip()
