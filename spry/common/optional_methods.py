"""Methods that a class of the user's may have or leave out, where it matters which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["has_method", "optional"]

F = TypeVar("F", bound=Callable[..., Any])


def optional(method: F) -> F:
    """Marks a base class's method: who has only this one has none of their own."""
    method.is_optional = True  # type: ignore[attr-defined]
    return method


def has_method(given: Any, name: str) -> bool:
    """Whether an object has the method, and not merely a base class's placeholder.

    >>> class Base:
    ...     @optional
    ...     def merge(self, a, b): ...
    >>> class Sum(Base):
    ...     def merge(self, a, b): return a + b
    >>> has_method(Base(), "merge"), has_method(Sum(), "merge"), has_method(Sum(), "split")
    (False, True, False)
    """
    method = getattr(given, name, None)
    return callable(method) and not getattr(method, "is_optional", False)
