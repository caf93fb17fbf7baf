"""Where checkpoints are kept."""

from __future__ import annotations

from typing import Any

from spry.common.configuration import Configuration
from spry.common.options import CheckpointingOptions, SpryOptions
from spry.common.setting_objects import SettingObject
from spry.common.state_choices import CheckpointStorageType

__all__ = [
    "CheckpointStorage",
    "CustomCheckpointStorage",
    "FileSystemCheckpointStorage",
    "JobManagerCheckpointStorage",
]


class CheckpointStorage(SettingObject):
    """Where checkpoints are kept. ``env.get_checkpoint_config().set_checkpoint_storage(...)`` takes one."""

    _options = (
        CheckpointingOptions.CHECKPOINT_STORAGE,
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        CheckpointingOptions.FS_SMALL_FILE_THRESHOLD,
        CheckpointingOptions.FS_WRITE_BUFFER_SIZE,
        SpryOptions.CHECKPOINT_MAX_STATE_SIZE,
    )

    @staticmethod
    def of(configuration: Configuration) -> CheckpointStorage | None:
        """The storage that a configuration says, ``None`` if it says nothing of it."""
        kind = configuration.get_optional(CheckpointingOptions.CHECKPOINT_STORAGE)
        directory = configuration.get_optional(CheckpointingOptions.CHECKPOINTS_DIRECTORY)
        storage: CheckpointStorage
        if kind is CheckpointStorageType.JOBMANAGER:
            storage = JobManagerCheckpointStorage()
        elif kind is CheckpointStorageType.FILESYSTEM or directory:
            storage = FileSystemCheckpointStorage(directory)
        else:
            return None
        storage._configuration = configuration
        return storage

    def get_savepoint_path(self) -> str | None:
        """The directory of savepoints for which none is named."""
        return self._configuration.get_optional(CheckpointingOptions.SAVEPOINT_DIRECTORY)


class JobManagerCheckpointStorage(CheckpointStorage):
    """Keeps checkpoints in the memory of the program: quick, for little state, and gone when the program has ended.

    :param checkpoint_path: The directory of checkpoints that are to outlive the program.
    :param max_state_size: The most bytes of state that a subtask may have.
    """

    DEFAULT_MAX_STATE_SIZE: int = 5 * 1024 * 1024

    def __init__(self, checkpoint_path: str | None = None, max_state_size: int | None = None) -> None:
        super().__init__()
        self._configuration.set(CheckpointingOptions.CHECKPOINT_STORAGE, CheckpointStorageType.JOBMANAGER)
        if checkpoint_path is not None:
            self._configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoint_path)
        if max_state_size is not None:
            self._configuration.set(SpryOptions.CHECKPOINT_MAX_STATE_SIZE, max_state_size)

    def get_checkpoint_path(self) -> str | None:
        return self._configuration.get_optional(CheckpointingOptions.CHECKPOINTS_DIRECTORY)

    def get_max_state_size(self) -> int:
        """The most bytes of state that a subtask may have."""
        return self._configuration.get(SpryOptions.CHECKPOINT_MAX_STATE_SIZE)


class FileSystemCheckpointStorage(CheckpointStorage):
    """Keeps checkpoints in files.

    :param checkpoint_path: The directory, or its URI. All workers must be able to reach it.
    :param file_state_size_threshold: State of so many bytes or less goes into the checkpoint's metadata.
    :param write_buffer_size: How many bytes are collected before they are written; -1 leaves it to the configuration.
    """

    MAX_FILE_STATE_THRESHOLD: int = 1024 * 1024

    def __init__(
        self,
        checkpoint_path: str | None = None,
        file_state_size_threshold: int | None = None,
        write_buffer_size: int = -1,
    ) -> None:
        super().__init__()
        if not checkpoint_path:
            raise ValueError(
                "checkpoints in files need a directory: FileSystemCheckpointStorage('file:///checkpoints'), or the "
                f"option '{CheckpointingOptions.CHECKPOINTS_DIRECTORY.key}'"
            )
        self._configuration.set(CheckpointingOptions.CHECKPOINT_STORAGE, CheckpointStorageType.FILESYSTEM)
        self._configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, checkpoint_path)
        if file_state_size_threshold is not None:
            if not 0 <= file_state_size_threshold <= self.MAX_FILE_STATE_THRESHOLD:
                raise ValueError(
                    f"file_state_size_threshold must be from 0 to {self.MAX_FILE_STATE_THRESHOLD}, "
                    f"not {file_state_size_threshold}"
                )
            self._configuration.set(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD, file_state_size_threshold)
        if write_buffer_size != -1:
            self._configuration.set(CheckpointingOptions.FS_WRITE_BUFFER_SIZE, write_buffer_size)

    def get_checkpoint_path(self) -> str:
        return self._configuration.get_optional(CheckpointingOptions.CHECKPOINTS_DIRECTORY) or ""

    def get_min_file_size_threshold(self) -> int:
        """State of so many bytes or less goes into the checkpoint's metadata."""
        return self._configuration.get(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD)

    def get_write_buffer_size(self) -> int:
        """How many bytes are collected before they are written."""
        return self._configuration.get(CheckpointingOptions.FS_WRITE_BUFFER_SIZE)


class CustomCheckpointStorage(CheckpointStorage):
    """In PyFlink this wraps a storage that is written in Java; here there are no Java objects."""

    def __init__(self, j_custom_checkpoint_storage: Any = None) -> None:
        raise TypeError(
            "a CustomCheckpointStorage wraps a Java object, and there are none here: take "
            "FileSystemCheckpointStorage(directory), whose directory may be the URI of another file system"
        )
