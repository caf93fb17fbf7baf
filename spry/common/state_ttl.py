"""How long state lives, and how what has expired is removed."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from spry.common.time import Duration, Time

__all__ = ["StateTtlConfig"]

_THIRTY_DAYS = Duration.of_days(30)


@dataclass(frozen=True)
class StateTtlConfig:
    """How long state lives. Descriptors take it: ``descriptor.enable_time_to_live(config)``.

    >>> config = StateTtlConfig.new_builder(Time.hours(1)).update_ttl_on_read_and_write().build()
    >>> config.get_ttl().to_milliseconds()
    3600000

    Values, list elements and map entries expire one by one. What has expired is removed when it is met; what nobody
    reads any more is removed in the background, unless that is switched off.
    """

    class UpdateType(Enum):
        """From when on the time counts: the last write, or the last write or read."""

        Disabled = 0
        OnCreateAndWrite = 1
        OnReadAndWrite = 2

    class StateVisibility(Enum):
        """Whether what has expired, but is still there, can be read."""

        ReturnExpiredIfNotCleanedUp = 0
        NeverReturnExpired = 1

    class TtlTimeCharacteristic(Enum):
        """Which time counts: the machine's clock."""

        ProcessingTime = 0

    @dataclass(frozen=True)
    class CleanupStrategies:
        """How what has expired is removed, if nobody reads it."""

        class Strategies(Enum):
            FULL_STATE_SCAN_SNAPSHOT = 0
            INCREMENTAL_CLEANUP = 1
            ROCKSDB_COMPACTION_FILTER = 2

        class CleanupStrategy(ABC):  # noqa: B024 (nothing is common to them)
            """One of the ways."""

        @dataclass(frozen=True)
        class EmptyCleanupStrategy(CleanupStrategy):
            """A way that has no settings."""

        @dataclass(frozen=True)
        class IncrementalCleanupStrategy(CleanupStrategy):
            """Look at some entries at each access to the state, and for every record if so wished."""

            cleanup_size: int
            for_every_record: bool

            def __post_init__(self) -> None:
                if self.cleanup_size < 1:
                    raise ValueError(f"incremental clean-up looks at 1 entry or more, not at {self.cleanup_size}")

            def get_cleanup_size(self) -> int:
                """At how many entries it looks each time."""
                return self.cleanup_size

            def run_cleanup_for_every_record(self) -> bool:
                """Whether it does so for every record, too."""
                return self.for_every_record

        @dataclass(frozen=True)
        class RocksdbCompactFilterCleanupStrategy(CleanupStrategy):
            """Remove entries from RocksDB in the background."""

            query_time_after_num_entries: int
            periodic_compaction_time: Duration = _THIRTY_DAYS

            def get_query_time_after_num_entries(self) -> int:
                """After how many entries the clock is looked at again."""
                return self.query_time_after_num_entries

            def get_periodic_compaction_time(self) -> Duration:
                """How old a file of RocksDB may get before it is looked through in any case."""
                return self.periodic_compaction_time

        EMPTY_STRATEGY: ClassVar[EmptyCleanupStrategy] = EmptyCleanupStrategy()

        strategies: Mapping[
            StateTtlConfig.CleanupStrategies.Strategies, StateTtlConfig.CleanupStrategies.CleanupStrategy
        ] = field(default_factory=dict, hash=False)
        in_background: bool = True

        def is_cleanup_in_background(self) -> bool:
            """Whether what has expired is removed even if nothing was said of how."""
            return self.in_background

        def in_full_snapshot(self) -> bool:
            """Whether what has expired is left out of full snapshots."""
            return self.Strategies.FULL_STATE_SCAN_SNAPSHOT in self.strategies

        def get_incremental_cleanup_strategy(
            self,
        ) -> StateTtlConfig.CleanupStrategies.IncrementalCleanupStrategy | None:
            """For state in memory: what was said, else 5 entries per access; ``None`` if not in the background."""
            kind = self.IncrementalCleanupStrategy
            said = self.strategies.get(self.Strategies.INCREMENTAL_CLEANUP)
            if isinstance(said, kind):
                return said
            return kind(5, False) if self.in_background else None

        def get_rocksdb_compact_filter_cleanup_strategy(
            self,
        ) -> StateTtlConfig.CleanupStrategies.RocksdbCompactFilterCleanupStrategy | None:
            """For state in RocksDB: what was said, else a default; ``None`` if not in the background."""
            kind = self.RocksdbCompactFilterCleanupStrategy
            said = self.strategies.get(self.Strategies.ROCKSDB_COMPACTION_FILTER)
            if isinstance(said, kind):
                return said
            return kind(1000) if self.in_background else None

    class Builder:
        """Says the settings one by one; :meth:`build` gives the result."""

        def __init__(self, ttl: Time | Duration) -> None:
            self._update_type = StateTtlConfig.UpdateType.OnCreateAndWrite
            self._visibility = StateTtlConfig.StateVisibility.NeverReturnExpired
            self._characteristic = StateTtlConfig.TtlTimeCharacteristic.ProcessingTime
            self._strategies: dict[
                StateTtlConfig.CleanupStrategies.Strategies, StateTtlConfig.CleanupStrategies.CleanupStrategy
            ] = {}
            self._in_background = True
            self.set_ttl(ttl)

        def set_ttl(self, ttl: Time | Duration) -> StateTtlConfig.Builder:
            """How long state lives."""
            if not isinstance(ttl, Time | Duration):
                raise TypeError(f"a time to live is a Time or a Duration, such as Time.hours(1), not {ttl!r}")
            self._ttl = Time.milliseconds(ttl.to_milliseconds())
            return self

        def set_update_type(self, update_type: StateTtlConfig.UpdateType) -> StateTtlConfig.Builder:
            """From when on the time counts."""
            self._update_type = StateTtlConfig.UpdateType(update_type)
            return self

        def update_ttl_on_create_and_write(self) -> StateTtlConfig.Builder:
            """The time counts from the last write on: the default."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnCreateAndWrite)

        def update_ttl_on_read_and_write(self) -> StateTtlConfig.Builder:
            """The time counts from the last write or read on."""
            return self.set_update_type(StateTtlConfig.UpdateType.OnReadAndWrite)

        def set_state_visibility(self, state_visibility: StateTtlConfig.StateVisibility) -> StateTtlConfig.Builder:
            """Whether what has expired, but is still there, can be read."""
            self._visibility = StateTtlConfig.StateVisibility(state_visibility)
            return self

        def return_expired_if_not_cleaned_up(self) -> StateTtlConfig.Builder:
            """What has expired can be read as long as it is there."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp)

        def never_return_expired(self) -> StateTtlConfig.Builder:
            """What has expired cannot be read: the default."""
            return self.set_state_visibility(StateTtlConfig.StateVisibility.NeverReturnExpired)

        def set_ttl_time_characteristic(
            self, ttl_time_characteristic: StateTtlConfig.TtlTimeCharacteristic
        ) -> StateTtlConfig.Builder:
            """Which time counts: there is only the machine's clock."""
            self._characteristic = StateTtlConfig.TtlTimeCharacteristic(ttl_time_characteristic)
            return self

        def use_processing_time(self) -> StateTtlConfig.Builder:
            """The machine's clock counts."""
            return self.set_ttl_time_characteristic(StateTtlConfig.TtlTimeCharacteristic.ProcessingTime)

        def cleanup_full_snapshot(self) -> StateTtlConfig.Builder:
            """Leave what has expired out of full snapshots; in the running job it stays."""
            kinds = StateTtlConfig.CleanupStrategies
            self._strategies[kinds.Strategies.FULL_STATE_SCAN_SNAPSHOT] = kinds.EMPTY_STRATEGY
            return self

        def cleanup_incrementally(
            self, cleanup_size: int, run_cleanup_for_every_record: bool = False
        ) -> StateTtlConfig.Builder:
            """Look at so many entries at each access to the state, and for every record if so wished.

            For state in memory: RocksDB has :meth:`cleanup_in_rocksdb_compact_filter`.
            """
            kinds = StateTtlConfig.CleanupStrategies
            self._strategies[kinds.Strategies.INCREMENTAL_CLEANUP] = kinds.IncrementalCleanupStrategy(
                cleanup_size, run_cleanup_for_every_record
            )
            return self

        def cleanup_in_rocksdb_compact_filter(
            self, query_time_after_num_entries: int = 1000, periodic_compaction_time: Duration | None = None
        ) -> StateTtlConfig.Builder:
            """Remove entries from RocksDB in the background, looking at the clock after so many of them."""
            kinds = StateTtlConfig.CleanupStrategies
            strategy = kinds.RocksdbCompactFilterCleanupStrategy
            self._strategies[kinds.Strategies.ROCKSDB_COMPACTION_FILTER] = (
                strategy(query_time_after_num_entries)
                if periodic_compaction_time is None
                else strategy(query_time_after_num_entries, periodic_compaction_time)
            )
            return self

        def disable_cleanup_in_background(self) -> StateTtlConfig.Builder:
            """Remove only what is met, and what a way of clean-up that was chosen removes."""
            self._in_background = False
            return self

        def build(self) -> StateTtlConfig:
            """The settings."""
            if self._ttl.to_milliseconds() < 1:
                raise ValueError(f"a time to live must be at least 1 ms, not {self._ttl}")
            return StateTtlConfig(
                self._update_type,
                self._visibility,
                self._characteristic,
                self._ttl,
                StateTtlConfig.CleanupStrategies(dict(self._strategies), self._in_background),
            )

    DISABLED: ClassVar[StateTtlConfig]
    """State that never expires."""

    update_type: UpdateType
    state_visibility: StateVisibility
    ttl_time_characteristic: TtlTimeCharacteristic
    ttl: Time
    cleanup_strategies: CleanupStrategies

    @staticmethod
    def new_builder(ttl: Time | Duration) -> StateTtlConfig.Builder:
        """Settings for state that lives so long, to say more of."""
        return StateTtlConfig.Builder(ttl)

    def get_update_type(self) -> UpdateType:
        """From when on the time counts."""
        return self.update_type

    def get_state_visibility(self) -> StateVisibility:
        """Whether what has expired, but is still there, can be read."""
        return self.state_visibility

    def get_ttl(self) -> Time:
        """How long state lives."""
        return self.ttl

    def get_ttl_time_characteristic(self) -> TtlTimeCharacteristic:
        """Which time counts."""
        return self.ttl_time_characteristic

    def is_enabled(self) -> bool:
        """Whether state expires at all."""
        return self.update_type is not StateTtlConfig.UpdateType.Disabled

    def get_cleanup_strategies(self) -> CleanupStrategies:
        """How what has expired is removed, if nobody reads it."""
        return self.cleanup_strategies


StateTtlConfig.DISABLED = (
    StateTtlConfig.new_builder(Time.milliseconds((1 << 63) - 1))
    .set_update_type(StateTtlConfig.UpdateType.Disabled)
    .build()
)
