"""When a vertex of a batch job may start."""

from enum import Enum

__all__ = ["InputDependencyConstraint"]


class InputDependencyConstraint(Enum):
    """Whether a vertex may start once any of its inputs can be read, or only once all of them can."""

    ANY = 0
    ALL = 1
