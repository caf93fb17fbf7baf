"""What programs for PyFlink ask of Spry's objects and do not find: they are told why, and what to do.

A class that derives from :class:`NotYet` answers for the methods that its ``_not_yet`` names. To ``hasattr`` they are
not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

__all__ = ["NotYet", "say_why"]


def say_why(why: str, names: str) -> dict[str, str]:
    """The same reason for several methods."""
    return dict.fromkeys(names.split(), why)


class NotYet:
    """Gives a reason for methods that are not there."""

    _not_yet: ClassVar[dict[str, str]] = {}

    if not TYPE_CHECKING:  # To a type checker, what is not there is not there.

        def __getattr__(self, name: str) -> Any:
            why = self._not_yet.get(name)
            owner = type(self).__name__
            if why is None:
                raise AttributeError(f"{owner!r} object has no attribute {name!r}", name=name, obj=self)
            raise AttributeError(f"Spry has no {owner}.{name}: {why}", name=name)
