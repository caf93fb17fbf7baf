"""A checkpoint's metadata: the file that makes its other files a checkpoint.

``_metadata`` begins with a line ``SPRY-CHECKPOINT <version> <CRC-32 of the rest>``; the rest is JSON. It is written
last, whole or not at all: a directory without it is no checkpoint. All paths in it are below the checkpoint's directory
(or beside it, ``../shared/``), so that the directory can be moved.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict, dataclass, field
from typing import Any

from spry.common.errors import CheckpointError
from spry.common.plan import FileHandle, OperatorSnapshot, RestoreState
from spry.runtime.checkpoints.storage import CheckpointStore, absolute, open_checkpoint_store

__all__ = ["METADATA", "CheckpointMetadata", "OperatorInfo", "find_checkpoint", "load_metadata", "older_checkpoints"]

METADATA = "_metadata"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class OperatorInfo:
    """An operator at the time of the checkpoint."""

    name: str
    parallelism: int
    max_parallelism: int
    has_user_uid: bool


@dataclass(frozen=True, slots=True)
class CheckpointMetadata:
    """All that there is to know about a checkpoint."""

    checkpoint_id: int
    timestamp: int
    job_id: str
    job_name: str
    savepoint: bool
    operators: dict[str, OperatorInfo]
    """By uid."""
    subtasks: tuple[OperatorSnapshot, ...]
    files: tuple[FileHandle, ...] = field(repr=False)
    sources: dict[str, bytes] = field(default_factory=dict, repr=False)
    """Source's uid -> the pickled state of its enumerator."""
    directory: str | None = None
    """Where it was found; not part of the file."""

    def to_bytes(self) -> bytes:
        """The contents of the file."""
        content = {
            "checkpoint_id": self.checkpoint_id,
            "timestamp": self.timestamp,
            "job_id": self.job_id,
            "job_name": self.job_name,
            "savepoint": self.savepoint,
            "operators": {uid: asdict(info) for uid, info in self.operators.items()},
            "subtasks": [asdict(subtask) for subtask in self.subtasks],
            "files": [_file_to_json(handle) for handle in self.files],
            "sources": {uid: base64.b64encode(state).decode() for uid, state in self.sources.items()},
        }
        payload = json.dumps(content, indent=1).encode()
        return f"SPRY-CHECKPOINT {_VERSION} {zlib.crc32(payload)}\n".encode() + payload

    @staticmethod
    def from_bytes(data: bytes, name: str, directory: str | None = None) -> CheckpointMetadata:
        """The metadata in a file's contents; :class:`CheckpointError` names the file if it is not right."""
        head, _, payload = data.partition(b"\n")
        words = head.decode(errors="replace").split(" ")
        if len(words) != 3 or words[0] != "SPRY-CHECKPOINT":
            raise CheckpointError(f"the file {name} is not the metadata of a checkpoint of Spry's")
        if words[1] != str(_VERSION):
            raise CheckpointError(f"the file {name} has version {words[1]}; this Spry reads version {_VERSION}")
        if words[2] != str(zlib.crc32(payload)):
            raise CheckpointError(f"the file {name} is corrupt: its checksum is not the one that it names")
        content = json.loads(payload)
        return CheckpointMetadata(
            content["checkpoint_id"],
            content["timestamp"],
            content["job_id"],
            content["job_name"],
            content["savepoint"],
            {uid: OperatorInfo(**info) for uid, info in content["operators"].items()},
            tuple(OperatorSnapshot(**subtask) for subtask in content["subtasks"]),
            tuple(_file_from_json(handle) for handle in content["files"]),
            {uid: base64.b64decode(state) for uid, state in content["sources"].items()},
            directory,
        )

    @property
    def path(self) -> str:
        """What to go on from it by."""
        return self.directory or f"checkpoint {self.checkpoint_id} in memory"

    @property
    def size(self) -> int:
        """The size of all state in bytes."""
        return sum(handle.size for handle in self.files)

    def stateful_uids(self) -> set[str]:
        """The operators that have state."""
        return {uid for handle in self.files for uid, _ in handle.operators} | set(self.sources)

    def shared_files(self) -> set[str]:
        """Files outside of the directory that belong to several checkpoints."""
        return {
            path
            for handle in self.files
            if handle.database is not None
            for _, path, _ in handle.database["files"]
            if path.startswith("../")
        }

    def restore_state(self) -> RestoreState:
        """What slots are told of it."""
        parallelism = {uid: info.parallelism for uid, info in self.operators.items()}
        return RestoreState(self.checkpoint_id, self.directory, self.files, self.subtasks, parallelism)


def _file_to_json(handle: FileHandle) -> dict[str, Any]:
    given = {"operators": [list(operator) for operator in handle.operators], "size": handle.size}
    if handle.inline is not None:
        given["inline"] = base64.b64encode(handle.inline).decode()
    for name in ("path", "local", "database"):
        if getattr(handle, name) is not None:
            given[name] = getattr(handle, name)
    return given


def _file_from_json(given: dict[str, Any]) -> FileHandle:
    return FileHandle(
        tuple((uid, subtask) for uid, subtask in given["operators"]),
        given["size"],
        given.get("path"),
        base64.b64decode(given["inline"]) if "inline" in given else None,
        given.get("local"),
        given.get("database"),
    )


def load_metadata(directory: str) -> CheckpointMetadata:
    """The metadata of the checkpoint in a directory."""
    store = open_checkpoint_store(directory)
    name = f"{directory.rstrip('/')}/{METADATA}"
    try:
        data = store.read(METADATA)
    except (FileNotFoundError, NotADirectoryError):
        raise CheckpointError(f"there is no checkpoint in {directory}: the file {name} is missing") from None
    except OSError as error:
        raise CheckpointError(f"the file {name} cannot be read: {error}") from None
    return CheckpointMetadata.from_bytes(data, name, directory)


def find_checkpoint(path: str) -> str:
    """The directory of the checkpoint that a path means: itself, that of its metadata, or the newest of a job's."""
    given = absolute(path).rstrip("/")
    if given.rpartition("/")[2] == METADATA:
        given = given.rpartition("/")[0] or "/"
    store = open_checkpoint_store(given)
    if store.size(METADATA) is not None:
        return given
    newest = _numbered(store)
    if newest:
        return f"{given}/{newest[0][1]}"
    raise CheckpointError(
        f"there is no checkpoint in {path}: name a savepoint's directory, a checkpoint's (.../chk-7), or that of a "
        "job with checkpoints in it"
    )


def _numbered(store: CheckpointStore) -> list[tuple[int, str]]:
    """The complete checkpoints in a job's directory, the newest first."""
    numbers = [(int(name[4:]), name) for name in store.names() if name.startswith("chk-") and name[4:].isdigit()]
    return sorted(((n, name) for n, name in numbers if store.size(f"{name}/{METADATA}") is not None), reverse=True)


def older_checkpoints(directory: str) -> list[str]:
    """The directories of the checkpoints before this one that are beside it, the newest first."""
    parent, _, name = directory.rstrip("/").rpartition("/")
    if not name.startswith("chk-") or not name[4:].isdigit():
        return []
    return [f"{parent}/{other}" for n, other in _numbered(open_checkpoint_store(parent)) if n < int(name[4:])]
