"""Source coordinators: one enumerator per source, in the job master's thread."""

from __future__ import annotations

from typing import Any

from spry.common.errors import InvalidProgramError
from spry.common.plan import SourceEvents, VertexReport
from spry.common.source import Source, SplitEnumeratorContext
from spry.runtime.state.schema import StateEncoder, decode_state

__all__ = ["SourceCoordinator"]


class _Context(SplitEnumeratorContext[Any]):
    def __init__(self, name: str, parallelism: int, configuration: dict[str, str]) -> None:
        self._name = name
        self._parallelism = parallelism
        self._configuration = configuration
        self.readers: list[int] = []
        self.splits: dict[int, list[Any]] = {}
        self.finished: set[int] = set()
        self.events: dict[int, list[Any]] = {}

    def current_parallelism(self) -> int:
        return self._parallelism

    def registered_readers(self) -> list[int]:
        return list(self.readers)

    def get_configuration(self) -> dict[str, str]:
        return dict(self._configuration)

    def _check(self, subtask: int) -> None:
        if not 0 <= subtask < self._parallelism:
            raise InvalidProgramError(
                f"the enumerator of source '{self._name}' named subtask {subtask}; there are {self._parallelism}"
            )

    def assign_split(self, split: Any, subtask: int) -> None:
        self._check(subtask)
        if not callable(getattr(split, "split_id", None)):
            raise InvalidProgramError(
                f"the enumerator of source '{self._name}' assigned {split!r}, which has no split_id()"
            )
        self.splits.setdefault(subtask, []).append(split)

    def signal_no_more_splits(self, subtask: int) -> None:
        self._check(subtask)
        self.finished.add(subtask)

    def send_event_to_source_reader(self, subtask: int, event: Any) -> None:
        self._check(subtask)
        self.events.setdefault(subtask, []).append(event)


class SourceCoordinator:
    """Runs the enumerator of one source and carries what it and the readers say to each other."""

    def __init__(
        self,
        vertex_id: int,
        name: str,
        source: Source[Any, Any],
        parallelism: int,
        configuration: dict[str, str],
        restored: bytes | None = None,
    ) -> None:
        self.vertex_id = vertex_id
        self.name = name
        self.uid = name
        """The source's, by which a checkpoint knows it."""
        self._context = _Context(name, parallelism, configuration)
        if restored is None:
            self._enumerator = source.create_enumerator(self._context)
        else:
            self._enumerator = source.restore_enumerator(self._context, decode_state(restored))

    def snapshot(self, checkpoint_id: int) -> bytes:
        """What the enumerator has not handed out, for a checkpoint. Call it when all that it has is taken out."""
        return StateEncoder().encode(self._enumerator.snapshot_state(checkpoint_id))

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """A checkpoint is durable."""
        self._enumerator.notify_checkpoint_complete(checkpoint_id)

    def start(self) -> None:
        """All readers are up."""
        self._enumerator.start()
        for subtask in range(self._context.current_parallelism()):
            self._context.readers.append(subtask)
            self._enumerator.add_reader(subtask)

    def take_in(self, report: VertexReport, host: str) -> bool:
        """What a reader has said; whether it said anything."""
        for event in report.source_events:
            self._enumerator.handle_source_event(report.subtask, event)
        for _ in range(report.split_requests):
            self._enumerator.handle_split_request(report.subtask, host)
        return bool(report.source_events) or report.split_requests > 0

    def discover(self) -> None:
        """Let the enumerator look for new splits."""
        self._enumerator.discover()

    def take_out(self) -> dict[int, SourceEvents]:
        """What the enumerator has to say to readers since the last call."""
        context = self._context
        subtasks = {*context.splits, *context.finished, *context.events}
        out = {
            subtask: SourceEvents(
                tuple(context.splits.get(subtask, ())),
                subtask in context.finished,
                tuple(context.events.get(subtask, ())),
            )
            for subtask in subtasks
        }
        context.splits, context.finished, context.events = {}, set(), {}
        return out

    def close(self) -> None:
        """The job is over."""
        self._enumerator.close()
