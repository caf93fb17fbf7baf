"""The shapes of sources and sinks: what to implement for one of your own."""

from enum import Enum

from spry.common.sink import (
    CommitRequest,
    Committer,
    CommitterInitContext,
    CommittingSinkWriter,
    GlobalCommittingSink,
    Sink,
    SinkWriter,
    StatefulSinkWriter,
    TwoPhaseCommittingSink,
    WriterContext,
    WriterInitContext,
)
from spry.common.source import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SourceSplit,
    SplitEnumerator,
    SplitEnumeratorContext,
)

__all__ = [
    "Boundedness",
    "CommitRequest",
    "Committer",
    "CommitterInitContext",
    "CommittingSinkWriter",
    "DeliveryGuarantee",
    "GlobalCommittingSink",
    "InputStatus",
    "ReaderOutput",
    "Sink",
    "SinkWriter",
    "Source",
    "SourceReader",
    "SourceReaderContext",
    "SourceSplit",
    "SplitEnumerator",
    "SplitEnumeratorContext",
    "StatefulSinkWriter",
    "TwoPhaseCommittingSink",
    "WriterContext",
    "WriterInitContext",
]


class DeliveryGuarantee(Enum):
    """What a sink promises when a job fails and goes on."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"
    NONE = "none"
