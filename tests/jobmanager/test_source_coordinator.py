from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from spry.common.errors import InvalidProgramError
from spry.common.plan import SourceEvents, VertexReport
from spry.common.source import Boundedness, Source, SplitEnumerator, SplitEnumeratorContext
from spry.jobmanager.source_coordinator import SourceCoordinator


@dataclass(frozen=True)
class Split:
    name: str

    def split_id(self) -> str:
        return self.name


class Enumerator(SplitEnumerator[Any, Any]):
    def __init__(self, context: SplitEnumeratorContext[Any]) -> None:
        self.context = context
        self.log: list[Any] = []

    def start(self) -> None:
        self.log.append(("start", self.context.registered_readers()))

    def add_reader(self, subtask: int) -> None:
        self.log.append(("reader", subtask, self.context.registered_readers()))

    def handle_split_request(self, subtask: int, requester_host: str | None) -> None:
        self.log.append(("request", subtask, requester_host))

    def handle_source_event(self, subtask: int, event: Any) -> None:
        self.log.append(("event", subtask, event))

    def discover(self) -> None:
        self.log.append("discover")

    def snapshot_state(self, checkpoint_id: int) -> Any:
        return None

    def close(self) -> None:
        self.log.append("close")


class AnySource(Source[Any, Any]):
    def __init__(self) -> None:
        self.enumerator: Any = None

    def get_boundedness(self) -> Boundedness:
        return Boundedness.CONTINUOUS_UNBOUNDED

    def create_enumerator(self, context: SplitEnumeratorContext[Any]) -> Enumerator:
        self.enumerator = Enumerator(context)
        return self.enumerator  # type: ignore[no-any-return]

    def restore_enumerator(self, context: SplitEnumeratorContext[Any], checkpoint: Any) -> Enumerator:
        return self.create_enumerator(context)

    def create_reader(self, context: Any) -> Any:
        raise AssertionError("readers are made in slots")


@pytest.fixture
def started() -> tuple[SourceCoordinator, Any]:
    source = AnySource()
    coordinator = SourceCoordinator(7, "Source: mine", source, 2, {"a": "b"})
    coordinator.start()
    return coordinator, source.enumerator


def test_the_enumerator_starts_before_any_reader(started: tuple[SourceCoordinator, Any]) -> None:
    _, enumerator = started
    assert enumerator.log == [("start", []), ("reader", 0, [0]), ("reader", 1, [0, 1])]
    assert enumerator.context.current_parallelism() == 2
    assert enumerator.context.get_configuration() == {"a": "b"}


def test_what_is_said_is_taken_out_once(started: tuple[SourceCoordinator, Any]) -> None:
    coordinator, enumerator = started
    context = enumerator.context
    assert coordinator.take_out() == {}
    context.assign_splits({0: [Split("a"), Split("b")], 1: [Split("c")]})
    context.assign_split(Split("d"), 0)
    context.signal_no_more_splits(1)
    context.send_event_to_source_reader(0, "hello")
    assert coordinator.take_out() == {
        0: SourceEvents((Split("a"), Split("b"), Split("d")), False, ("hello",)),
        1: SourceEvents((Split("c"),), True, ()),
    }
    assert coordinator.take_out() == {}


def test_what_readers_say_reaches_the_enumerator(started: tuple[SourceCoordinator, Any]) -> None:
    coordinator, enumerator = started
    enumerator.log.clear()
    assert coordinator.take_in(VertexReport(7, 1, split_requests=2, source_events=("x",)), "host") is True
    assert coordinator.take_in(VertexReport(7, 0), "host") is False
    coordinator.discover()
    coordinator.close()
    assert enumerator.log == [("event", 1, "x"), ("request", 1, "host"), ("request", 1, "host"), "discover", "close"]


@pytest.mark.parametrize("subtask", [-1, 2, 100])
@pytest.mark.parametrize("call", ["assign_split", "signal_no_more_splits", "send_event_to_source_reader"])
def test_subtasks_that_are_not_there(started: tuple[SourceCoordinator, Any], subtask: int, call: str) -> None:
    _, enumerator = started
    arguments: dict[str, tuple[Any, ...]] = {
        "assign_split": (Split("a"), subtask),
        "signal_no_more_splits": (subtask,),
        "send_event_to_source_reader": (subtask, "x"),
    }
    message = rf"the enumerator of source 'Source: mine' named subtask {subtask}; there are 2"
    with pytest.raises(InvalidProgramError, match=message):
        getattr(enumerator.context, call)(*arguments[call])


@pytest.mark.parametrize("split", ["a", None, Split])
def test_what_is_no_split(started: tuple[SourceCoordinator, Any], split: Any) -> None:
    _, enumerator = started
    if split is Split:
        split = object()
    with pytest.raises(InvalidProgramError, match=r"'Source: mine' assigned .*, which has no split_id\(\)"):
        enumerator.context.assign_split(split, 0)


def test_an_enumerator_that_does_not_take_splits_back(started: tuple[SourceCoordinator, Any]) -> None:
    _, enumerator = started
    with pytest.raises(RuntimeError, match="Enumerator was given splits back by subtask 1: it must"):
        enumerator.add_splits_back([Split("a")], 1)
