"""The messages between the driver and the slots: a job's plan, an epoch's command, a slot's report."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from spry.common.errors import FailureInfo
from spry.common.operators import OperatorDescription
from spry.common.partitioning import Partitioning

__all__ = [
    "CheckpointRequest",
    "EdgePlan",
    "EpochCommand",
    "ExecutionState",
    "FileHandle",
    "JobPlan",
    "OperatorPlan",
    "OperatorSnapshot",
    "RestoreState",
    "SlotCommand",
    "SlotReport",
    "SlotSnapshot",
    "SourceEvents",
    "StateQuery",
    "StopMode",
    "VertexPlan",
    "VertexReport",
]


class ExecutionState(Enum):
    """The life of a subtask."""

    CREATED = "CREATED"
    SCHEDULED = "SCHEDULED"
    DEPLOYING = "DEPLOYING"
    INITIALIZING = "INITIALIZING"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    CANCELING = "CANCELING"
    CANCELED = "CANCELED"
    FAILED = "FAILED"

    @property
    def is_terminal(self) -> bool:
        return self in (ExecutionState.FINISHED, ExecutionState.CANCELED, ExecutionState.FAILED)


class StopMode(Enum):
    """How a job ends with a savepoint."""

    SUSPEND = "suspend"
    """Sources read no further; windows and timers stay for whoever goes on from the savepoint."""
    DRAIN = "drain"
    """The input is over: event time ends, and everything fires before the savepoint is taken."""


@dataclass(frozen=True, slots=True)
class CheckpointRequest:
    """What slots are to do at the end of an epoch that is a checkpoint."""

    checkpoint_id: int
    timestamp: int
    """When it was begun, in ms."""
    directory: str | None
    """Where files go; None: everything travels with the report."""
    shared: str | None = None
    """Where files go that later checkpoints may refer to, too, below the directory; None: to none."""
    canonical: bool = False
    """A savepoint in the form that every backend reads."""
    savepoint: bool = False
    known_files: frozenset[str] = frozenset()
    """Shared files of checkpoints that are complete: they need not be written again."""
    inline_limit: int = 20480
    """What is at most so large travels with the report, in bytes."""


@dataclass(frozen=True, slots=True)
class FileHandle:
    """A part of a snapshot: a file, or the file's contents if they are small."""

    operators: tuple[tuple[str, int], ...]
    """(uid, subtask) of whose state is in it."""
    size: int
    path: str | None = None
    """Below the checkpoint's directory."""
    inline: bytes | None = field(default=None, repr=False)
    local: str | None = None
    """A copy on the machine that wrote it."""
    database: dict[str, Any] | None = None
    """If it is a database's: its files, states and key groups."""


@dataclass(frozen=True, slots=True)
class OperatorSnapshot:
    """What is known of one operator's subtask beside its states."""

    uid: str
    name: str
    subtask: int
    watermark: int
    idle: bool
    finished: bool


@dataclass(slots=True)
class SlotSnapshot:
    """What has become of a slot's part of a checkpoint."""

    checkpoint_id: int
    slot: int
    files: list[FileHandle] = field(default_factory=list)
    operators: list[OperatorSnapshot] = field(default_factory=list)
    error: str | None = None
    another_time: bool = False
    """The error is none, really: the slot is not ready for a checkpoint now."""
    sync_seconds: float = 0.0
    """How long the slot stood still."""
    seconds: float = 0.0
    """From the end of the epoch until everything was written."""
    written: int = 0
    """Bytes; less than the state's size where files are shared with earlier checkpoints."""


@dataclass(frozen=True, slots=True)
class RestoreState:
    """What a job goes on from."""

    checkpoint_id: int
    directory: str | None
    files: tuple[FileHandle, ...]
    operators: tuple[OperatorSnapshot, ...]
    parallelism: dict[str, int]
    """Operator's uid -> how many subtasks it had."""


@dataclass(frozen=True, slots=True)
class StateQuery:
    """A question for the value of a queryable state."""

    query_id: int
    name: str
    key: bytes = field(repr=False)
    """Pickled, so that a key that slots cannot read spoils nothing but its own query."""


@dataclass(frozen=True, slots=True)
class OperatorPlan:
    """One operator of a chain. ``parent`` is its predecessor's index in the chain, None at the head."""

    node_id: int
    uid: str
    name: str
    description: OperatorDescription
    parent: int | None
    parent_tag: str | None
    """The side output of the parent that this operator reads, None for its main output."""
    type_info: Any
    """The declared output type, enforced on what the operator emits; None if none was declared."""


@dataclass(frozen=True, slots=True)
class EdgePlan:
    """An edge between two vertices."""

    edge_id: int
    source_vertex: int
    source_operator: int
    """Index in the source vertex's chain."""
    tag: str | None
    target_vertex: int
    target_input: int
    partitioning: Partitioning
    local: bool
    """Both ends are in the same slot and, index by index, face each other: nothing is shuffled."""


@dataclass(frozen=True, slots=True)
class VertexPlan:
    """A chain of operators with its place: subtask i runs in slot ``slot_base + i``."""

    vertex_id: int
    name: str
    level: int
    parallelism: int
    max_parallelism: int
    slot_base: int
    operators: tuple[OperatorPlan, ...]
    side_types: dict[tuple[int, str], Any] = field(default_factory=dict)
    """(operator index, side output) -> declared type."""


@dataclass(frozen=True, slots=True)
class JobPlan:
    """All that a slot needs to run its part of a job."""

    job_id: str
    job_name: str
    attempt: int
    slots: int
    levels: int
    batch: bool
    vertices: tuple[VertexPlan, ...]
    edges: tuple[EdgePlan, ...]
    configuration: dict[str, str]
    job_parameters: dict[str, str]
    object_reuse: bool
    cached_files: dict[str, tuple[str, bool]]
    """Name -> (file name as shipped, executable)."""
    python_files: tuple[str, ...] = ()
    python_archives: tuple[tuple[str, str | None], ...] = ()
    python_path: tuple[str, ...] = ()
    main_classes: dict[str, Any] = field(default_factory=dict)
    """Classes of the user's main program, so that slots know them by name."""
    checkpointing: bool = False
    """Whether the job takes checkpoints: what is written becomes visible with them."""
    restore: RestoreState | None = None
    """What the job goes on from, None if it starts afresh."""


@dataclass(frozen=True, slots=True)
class SourceEvents:
    """What an enumerator has to say to one reader."""

    splits: tuple[Any, ...] = ()
    no_more_splits: bool = False
    events: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class SlotCommand:
    """The part of an epoch's command that is for one slot: (vertex id, subtask) -> events."""

    source_events: dict[tuple[int, int], SourceEvents] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EpochCommand:
    """What the slots do in one epoch."""

    job_id: str
    attempt: int
    epoch: int
    max_records: int = 1024
    """Per source subtask; 0 reads nothing."""
    max_millis: int = 200
    """For all sources of a slot together."""
    max_bytes: int = 1 << 62
    """For what a slot passes on; sources stop reading past it."""
    slots: dict[int, SlotCommand] = field(default_factory=dict)
    checkpoint: CheckpointRequest | None = None
    """The epoch ends with a checkpoint."""
    completed: tuple[int, ...] = ()
    """Checkpoints that have become durable since the last epoch."""
    aborted: tuple[int, ...] = ()
    """Checkpoints that were given up since the last epoch."""
    stop: StopMode | None = None
    """The job ends with this epoch's savepoint."""
    quiet: bool = False
    """Nothing happens but what is said of checkpoints: no records, no timers."""
    queries: tuple[StateQuery, ...] = ()
    watermark_limits: dict[int, int] = field(default_factory=dict)
    """Vertex id of a source -> the watermark past which it waits for the others of its group."""


@dataclass(slots=True)
class VertexReport:
    """What a subtask has done in an epoch."""

    vertex_id: int
    subtask: int
    records_in: int = 0
    records_out: int = 0
    finished: bool = False
    backlog: bool = False
    """There is more to do right now: a source with more to read, or what batch mode has grouped."""
    bounded_remaining: int | None = None
    watermark: int | None = None
    """Of a source its own, None while it is idle; of others that of the input."""
    split_requests: int = 0
    source_events: tuple[Any, ...] = ()
    accumulators: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class SlotReport:
    """A slot's answer at the end of an epoch."""

    slot: int
    epoch: int
    pid: int
    host: str = ""
    vertices: list[VertexReport] = field(default_factory=list)
    lines: list[tuple[bool, str]] = field(default_factory=list)
    """Printed lines: (to standard error, text)."""
    collected: dict[str, list[Any]] = field(default_factory=dict)
    failure: FailureInfo | None = None
    next_timer: int | None = None
    """When the slot next has something to do by itself (processing time, ms since 1970)."""
    busy_seconds: float = 0.0
    process_stays: bool = False
    """After closing: the process can be used for another job."""
    warnings: list[str] = field(default_factory=list)
    snapshots: list[SlotSnapshot] = field(default_factory=list)
    """Snapshots that have been written, or have failed, since the last report."""
    answers: dict[int, tuple[bool, bytes]] = field(default_factory=dict)
    """Query -> whether it could be answered, and the pickled value (None if the key has none) or what went wrong; only
    of queries that are for this slot."""
