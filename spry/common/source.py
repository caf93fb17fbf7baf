"""The shape of a source: an enumerator on the driver, readers in the slots, splits between them.

A :class:`Source` describes where records come from. Its :class:`SplitEnumerator` runs once, beside the job's
master, finds the *splits* (a file, a partition, a range of numbers) and hands them to readers. One
:class:`SourceReader` runs in every subtask of the source and turns splits into records, a batch at a time.

Positions are part of the contract: a reader's ``snapshot_state`` returns its splits *with* how far each has been
read, an enumerator's ``snapshot_state`` returns what it has not yet handed out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

__all__ = [
    "Boundedness",
    "InputStatus",
    "ReaderOutput",
    "Source",
    "SourceReader",
    "SourceReaderContext",
    "SourceSplit",
    "SplitEnumerator",
    "SplitEnumeratorContext",
]


class Boundedness(Enum):
    """Whether a source ends by itself."""

    BOUNDED = "BOUNDED"
    CONTINUOUS_UNBOUNDED = "CONTINUOUS_UNBOUNDED"


class InputStatus(Enum):
    """What a reader says after each ``poll_next``."""

    MORE_AVAILABLE = "MORE_AVAILABLE"
    """There is more to read right now."""
    NOTHING_AVAILABLE = "NOTHING_AVAILABLE"
    """Nothing to read now; ask again in a later epoch."""
    END_OF_INPUT = "END_OF_INPUT"
    """This reader will never produce another record."""


@runtime_checkable
class SourceSplit(Protocol):
    """A piece of a source's input. Anything picklable with a stable ``split_id()``."""

    def split_id(self) -> str: ...


SplitT = TypeVar("SplitT", bound=SourceSplit)
CheckpointT = TypeVar("CheckpointT")


class ReaderOutput(ABC):
    """Where a reader puts what it has read."""

    max_records: int
    """How many records the engine wants from this call of ``poll_next``. Readers stop near it."""

    @abstractmethod
    def collect(self, record: Any, timestamp: int | None = None) -> None:
        """Emit one record, with its event timestamp in milliseconds if the source knows it."""

    @abstractmethod
    def collect_batch(self, records: Sequence[Any], timestamps: Sequence[int] | None = None) -> None:
        """Emit many records at once: much cheaper than one by one. The sequence is not copied."""

    @abstractmethod
    def emit_watermark(self, timestamp: int) -> None:
        """Say that no record with a timestamp at or before this one will follow from this reader."""

    @abstractmethod
    def mark_idle(self) -> None:
        """Leave this reader out of the watermark until it emits again."""

    @abstractmethod
    def mark_active(self) -> None:
        """Count this reader in again."""

    def create_output_for_split(self, split_id: str) -> ReaderOutput:
        """An output of its own for one split, so that watermarks are kept per split.

        Create it when the split is added: until the split has a watermark, the reader has none.
        """
        return self

    def release_output_for_split(self, split_id: str) -> None:
        """The split has ended: its watermark no longer holds others back."""


class SourceReaderContext(ABC):
    """What the engine offers to a reader."""

    @abstractmethod
    def index_of_subtask(self) -> int: ...

    @abstractmethod
    def current_parallelism(self) -> int: ...

    @abstractmethod
    def send_split_request(self) -> None:
        """Ask the enumerator for another split; it arrives with a later epoch through ``add_splits``."""

    @abstractmethod
    def send_source_event_to_coordinator(self, event: Any) -> None:
        """Send a picklable message to the enumerator."""

    @abstractmethod
    def metric_group(self) -> Any: ...

    @abstractmethod
    def get_configuration(self) -> dict[str, str]: ...


class SourceReader(ABC, Generic[SplitT]):
    """Reads splits inside one subtask. All methods are called from the slot's one thread."""

    def start(self) -> None:
        """Called once, before anything else."""

    @abstractmethod
    def poll_next(self, output: ReaderOutput) -> InputStatus:
        """Emit a batch of at most about ``output.max_records`` records and return without waiting.

        Called repeatedly within an epoch until the epoch's budget is spent or nothing is available.
        """

    @abstractmethod
    def add_splits(self, splits: list[SplitT]) -> None:
        """Splits that the enumerator assigned, or that a checkpoint holds."""

    def notify_no_more_splits(self) -> None:
        """The enumerator will assign nothing more."""

    def handle_source_events(self, event: Any) -> None:
        """A message from the enumerator."""

    def pause_or_resume_splits(self, splits_to_pause: list[str], splits_to_resume: list[str]) -> None:
        """Watermark alignment: these splits (by id) have come too far ahead of others, or no longer so.

        Only for readers that give each split an output of its own. Without it the reader as a whole waits.
        """

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int) -> list[SplitT]:
        """The splits in work, each with its position, so that reading can go on exactly there."""

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """A checkpoint is durable: positions up to it may be committed outside."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """A checkpoint was given up."""

    def close(self) -> None:
        """Called once, at the end, also after a failure."""


class SplitEnumeratorContext(ABC, Generic[SplitT]):
    """What the engine offers to an enumerator."""

    @abstractmethod
    def current_parallelism(self) -> int: ...

    @abstractmethod
    def registered_readers(self) -> list[int]: ...

    @abstractmethod
    def assign_split(self, split: SplitT, subtask: int) -> None: ...

    def assign_splits(self, assignment: dict[int, list[SplitT]]) -> None:
        """Assign many splits: subtask -> splits."""
        for subtask, splits in assignment.items():
            for split in splits:
                self.assign_split(split, subtask)

    @abstractmethod
    def signal_no_more_splits(self, subtask: int) -> None: ...

    @abstractmethod
    def send_event_to_source_reader(self, subtask: int, event: Any) -> None: ...

    @abstractmethod
    def get_configuration(self) -> dict[str, str]: ...


class SplitEnumerator(ABC, Generic[SplitT, CheckpointT]):
    """Finds splits and hands them out. Runs on the driver, in the job master's thread."""

    def start(self) -> None:
        """Called once, before any reader is added."""

    @abstractmethod
    def handle_split_request(self, subtask: int, requester_host: str | None) -> None:
        """A reader has nothing left to do."""

    @abstractmethod
    def add_reader(self, subtask: int) -> None:
        """A reader has started and may be given splits."""

    def add_splits_back(self, splits: list[SplitT], subtask: int) -> None:
        """A reader failed before these splits were in a checkpoint: hand them out again."""
        raise RuntimeError(
            f"{type(self).__name__} was given splits back by subtask {subtask}: it must implement add_splits_back"
        )

    def handle_source_event(self, subtask: int, event: Any) -> None:
        """A message from a reader."""

    def discover(self) -> None:
        """Called between epochs: an unbounded source looks for new splits here. Must return quickly."""

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int) -> CheckpointT:
        """What has not been handed out yet."""

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """A checkpoint is durable."""

    def close(self) -> None:
        """Called once, at the end."""


class Source(ABC, Generic[SplitT, CheckpointT]):
    """Describes a source. Must be picklable: it travels to the slots.

    A minimal source of one's own (see ``examples/custom_source.py`` for one that is complete)::

        class Countdown(Source):
            def get_boundedness(self): return Boundedness.BOUNDED
            def create_enumerator(self, context): return MyEnumerator(context)
            def restore_enumerator(self, context, checkpoint): return MyEnumerator(context, checkpoint)
            def create_reader(self, context): return MyReader(context)
    """

    @abstractmethod
    def get_boundedness(self) -> Boundedness: ...

    @abstractmethod
    def create_enumerator(self, context: SplitEnumeratorContext[SplitT]) -> SplitEnumerator[SplitT, CheckpointT]: ...

    @abstractmethod
    def restore_enumerator(
        self, context: SplitEnumeratorContext[SplitT], checkpoint: CheckpointT
    ) -> SplitEnumerator[SplitT, CheckpointT]: ...

    @abstractmethod
    def create_reader(self, context: SourceReaderContext) -> SourceReader[SplitT]: ...

    def default_parallelism(self) -> int | None:
        """A fixed parallelism for sources that cannot be read in parallel; None for any."""
        return None

    def gives_timestamps(self) -> bool:
        """Whether readers may give records timestamps. If not, windows in event time can be refused early."""
        return True
