"""The windows of one key that merge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spry.common.errors import InvalidProgramError

__all__ = ["MergingWindowSet"]

OnMerge = Callable[[Any, list[Any], Any, list[Any]], None]
"""(result, merged windows, the state window of the result, the state windows that go into it)."""


class MergingWindowSet:
    """Which windows a key has, and under which window each keeps its contents.

    Windows that merge become a new window, but contents need not move with every merge: the new window keeps the
    *state window* of one of those that it was made of, and only the others' contents are merged into that.
    """

    __slots__ = ("_merge", "_state_windows")

    def __init__(
        self, merge_windows: Callable[[Iterable[Any], Any], None], state_windows: dict[Any, Any] | None = None
    ) -> None:
        self._merge = merge_windows
        self._state_windows: dict[Any, Any] = {} if state_windows is None else state_windows

    def __len__(self) -> int:
        return len(self._state_windows)

    def state_windows(self) -> dict[Any, Any]:
        """Each window with the one that its contents are kept under."""
        return self._state_windows

    def state_window(self, window: Any) -> Any:
        """The window that the contents are kept under, None if there is no such window."""
        return self._state_windows.get(window)

    def retire(self, window: Any) -> None:
        """Forget a window."""
        self._state_windows.pop(window, None)

    def add(self, new: Any, on_merge: OnMerge) -> Any:
        """Add a window, and merge what it makes merge; gives the window that it is in then."""
        known = self._state_windows
        if new in known:
            return new
        merges: list[tuple[Any, list[Any]]] = []
        self._merge([*known, new], _Collector(merges))
        result = new
        for merged_into, parts in merges:
            parts = list(dict.fromkeys(parts))
            if new in parts:
                parts.remove(new)
                result = merged_into
            if not parts:
                continue
            unknown = [part for part in parts if part not in known]
            if unknown:
                raise InvalidProgramError(f"merge_windows merges {unknown}, but there are no such windows")
            state_windows = [known.pop(part) for part in parts]
            known[merged_into] = state_windows[0]
            if parts != [merged_into]:  # Else the new window lies within one that was there.
                on_merge(merged_into, parts, state_windows[0], state_windows[1:])
        known.setdefault(result, result)
        return result


class _Collector:
    """Is told by the assigner which windows merge."""

    def __init__(self, merges: list[tuple[Any, list[Any]]]) -> None:
        self._merges = merges

    def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
        self._merges.append((merge_result, list(to_be_merged)))
