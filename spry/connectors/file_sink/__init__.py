"""A sink that writes files, each of which becomes visible once, whole and in one step."""

from spry.connectors.file_sink.buckets import BucketAssigner
from spry.connectors.file_sink.rolling import (
    CheckpointRollingPolicy,
    DefaultRollingPolicy,
    OnCheckpointRollingPolicy,
    PartFileInfo,
    RollingPolicy,
)
from spry.connectors.file_sink.sink import FileSink, OutputFileConfig, StreamingFileSink

__all__ = [
    "BucketAssigner",
    "CheckpointRollingPolicy",
    "DefaultRollingPolicy",
    "FileSink",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "PartFileInfo",
    "RollingPolicy",
    "StreamingFileSink",
]
