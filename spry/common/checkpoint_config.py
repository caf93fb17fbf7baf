"""When and how checkpoints are taken."""

from __future__ import annotations

from typing import Any

from spry.common.checkpoint_storage import CheckpointStorage, FileSystemCheckpointStorage
from spry.common.config_options import ConfigOption, ConfigurationError
from spry.common.configuration import Configuration
from spry.common.options import CheckpointingOptions
from spry.common.state_choices import CheckpointingMode, ExternalizedCheckpointRetention
from spry.common.time import Duration

__all__ = ["CheckpointConfig", "ExternalizedCheckpointCleanup"]

MINIMAL_CHECKPOINT_INTERVAL = 10
UNLIMITED_TOLERABLE_FAILURE_NUMBER = (1 << 31) - 1

ExternalizedCheckpointCleanup = ExternalizedCheckpointRetention
"""An older name."""


class CheckpointConfig:
    """Settings of checkpoints. Get it from the environment with ``env.get_checkpoint_config()``.

    They are a view of a :class:`~spry.common.configuration.Configuration`: what is set here is set there, under
    ``execution.checkpointing.*``, and the other way round. Times are in milliseconds.
    """

    def __init__(self, configuration: Configuration | None = None) -> None:
        self._configuration = Configuration() if configuration is None else configuration

    @property
    def configuration(self) -> Configuration:
        """The configuration that this is a view of."""
        return self._configuration

    def is_checkpointing_enabled(self) -> bool:
        """Whether checkpoints are taken: whether there is an interval."""
        return self.get_checkpoint_interval() > 0

    def get_checkpoint_interval(self) -> int:
        """How often a checkpoint is begun; -1 if no checkpoints are taken."""
        interval = self._configuration.get_optional(CheckpointingOptions.CHECKPOINTING_INTERVAL)
        return interval.to_millis() if interval is not None and interval.to_nanos() else -1

    def set_checkpoint_interval(self, checkpoint_interval: int) -> CheckpointConfig:
        """Begin a checkpoint so often: every 10 ms or less often."""
        interval = Duration.of_millis(checkpoint_interval)
        _check_interval(interval)
        return self._set(CheckpointingOptions.CHECKPOINTING_INTERVAL, interval)

    def get_checkpointing_mode(self) -> CheckpointingMode:
        return self._configuration.get(CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE)

    def set_checkpointing_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """EXACTLY_ONCE or AT_LEAST_ONCE."""
        return self._set(CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, checkpointing_mode)

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        """The same as :meth:`get_checkpointing_mode`."""
        return self.get_checkpointing_mode()

    def set_checkpointing_consistency_mode(self, checkpointing_mode: CheckpointingMode) -> CheckpointConfig:
        """The same as :meth:`set_checkpointing_mode`."""
        return self.set_checkpointing_mode(checkpointing_mode)

    def get_checkpoint_timeout(self) -> int:
        return self._configuration.get(CheckpointingOptions.CHECKPOINTING_TIMEOUT).to_millis()

    def set_checkpoint_timeout(self, checkpoint_timeout: int) -> CheckpointConfig:
        """Give up a checkpoint that takes longer."""
        return self._set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, Duration.of_millis(checkpoint_timeout))

    def get_min_pause_between_checkpoints(self) -> int:
        return self._configuration.get(CheckpointingOptions.MIN_PAUSE_BETWEEN_CHECKPOINTS).to_millis()

    def set_min_pause_between_checkpoints(self, min_pause_between_checkpoints: int) -> CheckpointConfig:
        """The least time from the end of a checkpoint to the next one. With one, checkpoints never overlap."""
        pause = Duration.of_millis(min_pause_between_checkpoints)
        return self._set(CheckpointingOptions.MIN_PAUSE_BETWEEN_CHECKPOINTS, pause)

    def get_max_concurrent_checkpoints(self) -> int:
        return self._configuration.get(CheckpointingOptions.MAX_CONCURRENT_CHECKPOINTS)

    def set_max_concurrent_checkpoints(self, max_concurrent_checkpoints: int) -> CheckpointConfig:
        """How many checkpoints may be on their way at the same time."""
        return self._set(CheckpointingOptions.MAX_CONCURRENT_CHECKPOINTS, max_concurrent_checkpoints)

    def is_fail_on_checkpointing_errors(self) -> bool:
        """Whether the first checkpoint that fails is a failure of the job."""
        return self.get_tolerable_checkpoint_failure_number() == 0

    def set_fail_on_checkpointing_errors(self, fail_on_checkpointing_errors: bool) -> CheckpointConfig:
        """Tolerate no failure, or any number of them."""
        tolerated = 0 if fail_on_checkpointing_errors else UNLIMITED_TOLERABLE_FAILURE_NUMBER
        return self.set_tolerable_checkpoint_failure_number(tolerated)

    def get_tolerable_checkpoint_failure_number(self) -> int:
        return self._configuration.get(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER)

    def set_tolerable_checkpoint_failure_number(self, tolerable_checkpoint_failure_number: int) -> CheckpointConfig:
        """How many checkpoints in a row may fail before the job does."""
        return self._set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, tolerable_checkpoint_failure_number)

    def is_externalized_checkpoints_enabled(self) -> bool:
        """Whether checkpoints are kept in some cases when the job has ended."""
        kept = self.get_externalized_checkpoint_retention()
        return kept is not ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS

    def get_externalized_checkpoint_retention(self) -> ExternalizedCheckpointRetention:
        return self._configuration.get(CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION)

    def set_externalized_checkpoint_retention(
        self, retention_mode: ExternalizedCheckpointRetention
    ) -> CheckpointConfig:
        """What becomes of the checkpoints when the job ends."""
        return self._set(CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION, retention_mode)

    def enable_externalized_checkpoints(self, cleanup_mode: ExternalizedCheckpointRetention) -> CheckpointConfig:
        """An older name of :meth:`set_externalized_checkpoint_retention`."""
        return self.set_externalized_checkpoint_retention(cleanup_mode)

    def set_externalized_checkpoint_cleanup(self, cleanup_mode: ExternalizedCheckpointRetention) -> CheckpointConfig:
        """An older name of :meth:`set_externalized_checkpoint_retention`."""
        return self.set_externalized_checkpoint_retention(cleanup_mode)

    def get_externalized_checkpoint_cleanup(self) -> ExternalizedCheckpointRetention:
        """An older name of :meth:`get_externalized_checkpoint_retention`."""
        return self.get_externalized_checkpoint_retention()

    def is_prefer_checkpoint_for_recovery(self) -> bool:
        return self._configuration.get(CheckpointingOptions.PREFER_CHECKPOINT_FOR_RECOVERY)

    def set_prefer_checkpoint_for_recovery(self, prefer_checkpoint_for_recovery: bool) -> CheckpointConfig:
        """Whether a failed job goes on from its latest checkpoint even if there is a savepoint that is newer."""
        return self._set(CheckpointingOptions.PREFER_CHECKPOINT_FOR_RECOVERY, prefer_checkpoint_for_recovery)

    def is_unaligned_checkpoints_enabled(self) -> bool:
        """Whether a checkpoint may have records that are on their way in it. Only with EXACTLY_ONCE."""
        return self.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE and self._configuration.get(
            CheckpointingOptions.ENABLE_UNALIGNED
        )

    def enable_unaligned_checkpoints(self, enabled: bool = True) -> CheckpointConfig:
        """Let a checkpoint have records that are on their way in it, rather than wait for them."""
        return self._set(CheckpointingOptions.ENABLE_UNALIGNED, enabled)

    def disable_unaligned_checkpoints(self) -> CheckpointConfig:
        return self.enable_unaligned_checkpoints(False)

    def is_force_unaligned_checkpoints(self) -> bool:
        return self._configuration.get(CheckpointingOptions.FORCE_UNALIGNED)

    def set_force_unaligned_checkpoints(self, force_unaligned_checkpoints: bool = True) -> CheckpointConfig:
        """Whether unaligned checkpoints are taken of iterations, too."""
        return self._set(CheckpointingOptions.FORCE_UNALIGNED, force_unaligned_checkpoints)

    def get_aligned_checkpoint_timeout(self) -> Duration:
        return self._configuration.get(CheckpointingOptions.ALIGNED_CHECKPOINT_TIMEOUT)

    def set_aligned_checkpoint_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """How long a checkpoint waits for records that are on their way before it becomes an unaligned one."""
        return self._set(CheckpointingOptions.ALIGNED_CHECKPOINT_TIMEOUT, alignment_timeout)

    def get_alignment_timeout(self) -> Duration:
        """An older name of :meth:`get_aligned_checkpoint_timeout`."""
        return self.get_aligned_checkpoint_timeout()

    def set_alignment_timeout(self, alignment_timeout: Duration) -> CheckpointConfig:
        """An older name of :meth:`set_aligned_checkpoint_timeout`."""
        return self.set_aligned_checkpoint_timeout(alignment_timeout)

    def get_checkpoint_storage(self) -> CheckpointStorage | None:
        """Where checkpoints are kept; ``None`` if nothing is said of it."""
        return CheckpointStorage.of(self._configuration)

    def set_checkpoint_storage(self, storage: CheckpointStorage | str) -> CheckpointConfig:
        """Where checkpoints are kept: a storage, or a directory."""
        if isinstance(storage, str):
            storage = FileSystemCheckpointStorage(storage)
        if not isinstance(storage, CheckpointStorage):
            raise TypeError(
                "set_checkpoint_storage takes a directory, JobManagerCheckpointStorage() or "
                f"FileSystemCheckpointStorage(directory), not {storage!r}"
            )
        storage.apply_to(self._configuration)
        return self

    def set_checkpoint_storage_dir(self, checkpoint_path: str) -> CheckpointConfig:
        """Keep checkpoints in this directory."""
        return self.set_checkpoint_storage(checkpoint_path)

    def validate(self) -> None:
        """Check what only all settings together can tell.

        :raises ValueError: It says what does not fit together.
        """
        interval = self._configuration.get_optional(CheckpointingOptions.CHECKPOINTING_INTERVAL)
        if interval is not None and interval.to_nanos():
            _check_interval(interval)
        CheckpointStorage.of(self._configuration)
        if self.is_unaligned_checkpoints_enabled() and self.get_max_concurrent_checkpoints() > 1:
            raise ConfigurationError(
                "unaligned checkpoints are taken one at a time: leave "
                f"'{CheckpointingOptions.MAX_CONCURRENT_CHECKPOINTS.key}' at 1, or disable them with "
                f"'{CheckpointingOptions.ENABLE_UNALIGNED.key}'"
            )

    def _set(self, option: ConfigOption[Any], value: Any) -> CheckpointConfig:
        self._configuration.set(option, value)
        return self


def _check_interval(interval: Duration) -> None:
    if interval < Duration.of_millis(MINIMAL_CHECKPOINT_INTERVAL):
        raise ConfigurationError(f"the checkpoint interval must be at least 10 ms, got {interval}")
