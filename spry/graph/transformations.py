"""Transformations: what the API records while a program is being written down.

Each points to its inputs. Some become operators (:class:`OperatorTransformation`); the others (union, partition, side
output) only say how operators are connected.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spry.common.operators import ChainingStrategy, OperatorDescription
from spry.common.partitioning import Partitioning

__all__ = [
    "DEFAULT_SLOT_SHARING_GROUP",
    "OperatorTransformation",
    "PartitionTransformation",
    "SideOutputTransformation",
    "Transformation",
    "UnionTransformation",
]

DEFAULT_SLOT_SHARING_GROUP = "default"


@dataclass(eq=False)
class Transformation:
    """Base of all. ``type_info`` is the declared type of what comes out, None if none was declared."""

    id: int
    type_info: Any = None

    @property
    def inputs(self) -> list[Transformation]:
        return []


@dataclass(eq=False)
class OperatorTransformation(Transformation):
    """An operator: a source, a function, a sink."""

    name: str = ""
    description: OperatorDescription = field(default_factory=OperatorDescription)
    input: Transformation | None = None
    declared: bool = False
    """The type was declared here, so it is enforced here."""
    parallelism: int | None = None
    """None: the environment's."""
    max_parallelism: int | None = None
    non_parallel: bool = False
    uid: str | None = None
    uid_hash: str | None = None
    text: str | None = None
    """A longer description, for people."""
    chaining: ChainingStrategy = ChainingStrategy.ALWAYS
    slot_sharing_group: str | None = None
    """None: that of the inputs."""
    buffer_timeout: int | None = None

    @property
    def inputs(self) -> list[Transformation]:
        return [] if self.input is None else [self.input]


@dataclass(eq=False)
class PartitionTransformation(Transformation):
    """How the records of the input are spread over whatever follows."""

    input: Transformation = field(default_factory=lambda: Transformation(-1))
    partitioning: Partitioning = field(default_factory=Partitioning)

    @property
    def inputs(self) -> list[Transformation]:
        return [self.input]


@dataclass(eq=False)
class SideOutputTransformation(Transformation):
    """A side output of the input."""

    input: Transformation = field(default_factory=lambda: Transformation(-1))
    tag: str = ""

    @property
    def inputs(self) -> list[Transformation]:
        return [self.input]


@dataclass(eq=False)
class UnionTransformation(Transformation):
    """The records of all inputs."""

    union: list[Transformation] = field(default_factory=list)

    @property
    def inputs(self) -> list[Transformation]:
        return self.union
