from __future__ import annotations

from typing import Any

import pytest

from spry.common.checkpoint_config import CheckpointConfig, ExternalizedCheckpointCleanup
from spry.common.checkpoint_storage import (
    CheckpointStorage,
    CustomCheckpointStorage,
    FileSystemCheckpointStorage,
    JobManagerCheckpointStorage,
)
from spry.common.config_options import ConfigurationError
from spry.common.configuration import Configuration
from spry.common.options import CheckpointingOptions, StateRecoveryOptions, find_option
from spry.common.state_choices import CheckpointingMode, ExternalizedCheckpointRetention, RecoveryClaimMode
from spry.common.time import Duration


def test_defaults_are_those_of_flink() -> None:
    config = CheckpointConfig()
    assert not config.is_checkpointing_enabled()
    assert config.get_checkpoint_interval() == -1
    assert config.get_checkpointing_mode() is CheckpointingMode.EXACTLY_ONCE
    assert config.get_checkpoint_timeout() == 600_000
    assert config.get_min_pause_between_checkpoints() == 0
    assert config.get_max_concurrent_checkpoints() == 1
    assert config.is_fail_on_checkpointing_errors()
    assert config.get_tolerable_checkpoint_failure_number() == 0
    assert not config.is_externalized_checkpoints_enabled()
    retention = ExternalizedCheckpointRetention.NO_EXTERNALIZED_CHECKPOINTS
    assert config.get_externalized_checkpoint_retention() is retention
    assert not config.is_prefer_checkpoint_for_recovery()
    assert not config.is_unaligned_checkpoints_enabled()
    assert not config.is_force_unaligned_checkpoints()
    assert config.get_aligned_checkpoint_timeout() == Duration.of_millis(0)
    assert config.get_checkpoint_storage() is None
    config.validate()


@pytest.mark.parametrize(
    ("name", "value", "key", "text"),
    [
        ("checkpoint_interval", 10, "interval", "10 ms"),
        ("checkpointing_mode", CheckpointingMode.AT_LEAST_ONCE, "mode", "AT_LEAST_ONCE"),
        ("checkpointing_consistency_mode", CheckpointingMode.AT_LEAST_ONCE, "mode", "AT_LEAST_ONCE"),
        ("checkpoint_timeout", 10, "timeout", "10 ms"),
        ("min_pause_between_checkpoints", 500, "min-pause", "500 ms"),
        ("max_concurrent_checkpoints", 2, "max-concurrent-checkpoints", "2"),
        ("tolerable_checkpoint_failure_number", 3, "tolerable-failed-checkpoints", "3"),
        (
            "externalized_checkpoint_retention",
            ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION,
            "externalized-checkpoint-retention",
            "RETAIN_ON_CANCELLATION",
        ),
        (
            "externalized_checkpoint_cleanup",
            ExternalizedCheckpointCleanup.DELETE_ON_CANCELLATION,
            "externalized-checkpoint-retention",
            "DELETE_ON_CANCELLATION",
        ),
        ("aligned_checkpoint_timeout", Duration.of_seconds(1), "aligned-checkpoint-timeout", "1000 ms"),
        ("alignment_timeout", Duration.of_seconds(1), "aligned-checkpoint-timeout", "1000 ms"),
    ],
)
def test_what_is_set_is_given_and_is_an_option(name: str, value: Any, key: str, text: str) -> None:
    config = CheckpointConfig()
    assert getattr(config, f"set_{name}")(value) is config
    assert getattr(config, f"get_{name}")() == value
    assert config.configuration.to_dict() == {f"execution.checkpointing.{key}": text}


@pytest.mark.parametrize(
    ("change", "query", "key"),
    [
        ("enable_unaligned_checkpoints", "is_unaligned_checkpoints_enabled", "unaligned.enabled"),
        ("set_force_unaligned_checkpoints", "is_force_unaligned_checkpoints", "unaligned.forced"),
        (
            "set_prefer_checkpoint_for_recovery",
            "is_prefer_checkpoint_for_recovery",
            "prefer-checkpoint-for-recovery",
        ),
    ],
)
def test_switches(change: str, query: str, key: str) -> None:
    config = CheckpointConfig()
    for value in (True, False):
        assert getattr(config, change)(value) is config
        assert getattr(config, query)() is value
        assert config.configuration.to_dict() == {f"execution.checkpointing.{key}": str(value).lower()}


def test_unaligned_checkpoints_are_exactly_once() -> None:
    config = CheckpointConfig().enable_unaligned_checkpoints()
    config.set_checkpointing_mode(CheckpointingMode.AT_LEAST_ONCE)
    assert not config.is_unaligned_checkpoints_enabled()
    config.set_checkpointing_mode(CheckpointingMode.EXACTLY_ONCE)
    assert config.is_unaligned_checkpoints_enabled()
    assert not config.disable_unaligned_checkpoints().is_unaligned_checkpoints_enabled()


def test_failures_that_are_tolerated() -> None:
    config = CheckpointConfig().set_fail_on_checkpointing_errors(False)
    assert config.get_tolerable_checkpoint_failure_number() == 2**31 - 1
    assert not config.is_fail_on_checkpointing_errors()
    assert config.set_fail_on_checkpointing_errors(True).get_tolerable_checkpoint_failure_number() == 0


def test_retention_under_its_older_name() -> None:
    config = CheckpointConfig().enable_externalized_checkpoints(ExternalizedCheckpointCleanup.RETAIN_ON_CANCELLATION)
    assert config.is_externalized_checkpoints_enabled()
    assert config.get_externalized_checkpoint_retention() is ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("checkpoint_interval", 9, "at least 10 ms, got 9 ms"),
        ("checkpoint_interval", 0, "at least 10 ms"),
        ("checkpoint_timeout", 9, r"checkpointing.timeout' .* at least 10 ms"),
        ("min_pause_between_checkpoints", -1, "min-pause"),
        ("max_concurrent_checkpoints", 0, "at least 1"),
        ("tolerable_checkpoint_failure_number", -1, "at least 0"),
        ("aligned_checkpoint_timeout", Duration.of_millis(-1), "at least 0"),
        ("checkpointing_mode", "often", "one of exactly_once, at_least_once"),
        ("checkpoint_storage", "", "need a directory"),
    ],
)
def test_mistakes(name: str, value: Any, message: str) -> None:
    config = CheckpointConfig()
    with pytest.raises(ValueError, match=message):
        getattr(config, f"set_{name}")(value)
    assert config.configuration.key_set() == set()


def test_what_does_not_fit_together() -> None:
    config = CheckpointConfig().set_max_concurrent_checkpoints(2)
    config.validate()
    config.enable_unaligned_checkpoints()
    with pytest.raises(ConfigurationError, match="one at a time"):
        config.validate()
    config.set_checkpointing_mode(CheckpointingMode.AT_LEAST_ONCE).validate()
    with pytest.raises(ConfigurationError, match="at least 10 ms"):
        CheckpointConfig(Configuration.from_dict({"execution.checkpointing.interval": "5 ms"})).validate()
    with pytest.raises(ValueError, match=r"'execution.checkpointing.dir'"):
        CheckpointConfig(Configuration.from_dict({"state.checkpoint-storage": "filesystem"})).validate()


def test_it_is_a_view_of_the_configuration() -> None:
    configuration = Configuration.from_dict({"execution.checkpointing.interval": "1 min"})
    config = CheckpointConfig(configuration)
    assert config.is_checkpointing_enabled() and config.get_checkpoint_interval() == 60_000
    configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, "0")
    assert not config.is_checkpointing_enabled() and config.get_checkpoint_interval() == -1
    config.validate()


@pytest.mark.parametrize(
    ("key", "older"),
    [
        ("execution.checkpointing.dir", "state.checkpoints.dir"),
        ("execution.checkpointing.savepoint-dir", "state.savepoints.dir"),
        ("execution.checkpointing.num-retained", "state.checkpoints.num-retained"),
        ("execution.checkpointing.incremental", "state.backend.incremental"),
        ("execution.checkpointing.data-inline-threshold", "state.storage.fs.memory-threshold"),
        ("execution.checkpointing.data-inline-threshold", "state.backend.fs.memory-threshold"),
        ("execution.checkpointing.local-backup.dirs", "taskmanager.state.local.root-dirs"),
        ("execution.state-recovery.from-local", "state.backend.local-recovery"),
        ("execution.state-recovery.path", "execution.savepoint.path"),
        ("execution.state-recovery.ignore-unclaimed-state", "execution.savepoint.ignore-unclaimed-state"),
        ("state.backend.type", "state.backend"),
        ("state.latency-track.keyed-state-enabled", "state.backend.latency-track.keyed-state-enabled"),
    ],
)
def test_older_keys(key: str, older: str) -> None:
    option = find_option(older)
    assert option is not None and option.key == key and find_option(key) is option


def test_how_a_job_recovers() -> None:
    configuration = Configuration.from_dict({"execution.savepoint-restore-mode": "CLAIM"})
    assert configuration.get(StateRecoveryOptions.RESTORE_MODE) is RecoveryClaimMode.CLAIM
    assert Configuration().get(StateRecoveryOptions.RESTORE_MODE) is RecoveryClaimMode.NO_CLAIM


# Storage


def test_checkpoints_in_files() -> None:
    config = CheckpointConfig().set_checkpoint_storage_dir("file:///checkpoints")
    storage = config.get_checkpoint_storage()
    assert isinstance(storage, FileSystemCheckpointStorage)
    assert storage.get_checkpoint_path() == "file:///checkpoints"
    assert storage.get_min_file_size_threshold() == 20 << 10
    assert storage.get_write_buffer_size() == 4096
    assert storage.get_savepoint_path() is None
    assert config.configuration.to_dict() == {
        "execution.checkpointing.storage": "filesystem",
        "execution.checkpointing.dir": "file:///checkpoints",
    }
    config.configuration.set(CheckpointingOptions.SAVEPOINT_DIRECTORY, "/savepoints")
    assert storage.get_savepoint_path() == "/savepoints"


def test_settings_of_checkpoints_in_files() -> None:
    config = CheckpointConfig().set_checkpoint_storage(FileSystemCheckpointStorage("/c", 1000, 8192))
    assert config.configuration.get(CheckpointingOptions.FS_SMALL_FILE_THRESHOLD) == 1000
    assert config.configuration.get(CheckpointingOptions.FS_WRITE_BUFFER_SIZE) == 8192
    assert repr(config.get_checkpoint_storage()).startswith(
        "FileSystemCheckpointStorage(execution.checkpointing.storage="
    )


def test_a_directory_alone_says_that_checkpoints_are_in_files() -> None:
    storage = CheckpointStorage.of(Configuration.from_dict({"state.checkpoints.dir": "/c"}))
    assert isinstance(storage, FileSystemCheckpointStorage) and storage.get_checkpoint_path() == "/c"


def test_checkpoints_in_memory() -> None:
    plain = JobManagerCheckpointStorage()
    assert plain.get_checkpoint_path() is None
    assert plain.get_max_state_size() == JobManagerCheckpointStorage.DEFAULT_MAX_STATE_SIZE
    config = CheckpointConfig().set_checkpoint_storage(JobManagerCheckpointStorage("/retained", 1 << 20))
    storage = config.get_checkpoint_storage()
    assert isinstance(storage, JobManagerCheckpointStorage)
    assert storage.get_checkpoint_path() == "/retained"
    assert storage.get_max_state_size() == 1 << 20


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (FileSystemCheckpointStorage, ValueError, "need a directory"),
        (lambda: FileSystemCheckpointStorage("/c", 1 + (1 << 20)), ValueError, "file_state_size_threshold must be"),
        (lambda: FileSystemCheckpointStorage("/c", None, -2), ValueError, "write-buffer-size"),
        (lambda: JobManagerCheckpointStorage(max_state_size=0), ValueError, "max-state-size"),
        (CustomCheckpointStorage, TypeError, "take FileSystemCheckpointStorage"),
        (lambda: CheckpointConfig().set_checkpoint_storage(5), TypeError, "takes a directory"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_with_storages(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
