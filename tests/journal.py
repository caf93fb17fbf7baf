"""What functions under test note down. They are pickled on their way to a slot; this module is not, so it sees all."""

from __future__ import annotations

from typing import Any

__all__ = ["ENTRIES", "note", "reset"]

ENTRIES: list[Any] = []


def note(entry: Any) -> None:
    ENTRIES.append(entry)


def reset() -> list[Any]:
    """Forget everything; gives what was there."""
    entries = list(ENTRIES)
    ENTRIES.clear()
    return entries
