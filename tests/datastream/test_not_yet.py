"""What programs for PyFlink ask for in vain: they are told why."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from spry.common import Types
from spry.common.errors import InvalidProgramError
from spry.datastream import DataStream, StreamExecutionEnvironment
from spry.datastream.connectors.file_system import FileSource
from spry.datastream.state import MapStateDescriptor
from tests.local_job import new_environment


def stream() -> DataStream:
    return new_environment().from_collection([1])


@pytest.mark.parametrize(
    ("ask", "why"),
    [
        (lambda: new_environment().create_input(None), "implement Source in Python"),
        (lambda: stream().connect(stream()), r"DataStream.connect: streams of two inputs"),
        (lambda: stream().key_by(lambda n: n).interval_join(stream()), r"KeyedStream.interval_join: streams of two"),
        (lambda: stream().cache(), "run the stream again"),
    ],
)
def test_methods_that_are_not_there_yet_say_why(ask: Any, why: str) -> None:
    with pytest.raises(AttributeError, match=why):
        ask()


def test_other_names_are_mistakes_as_ever() -> None:
    with pytest.raises(AttributeError, match="'StreamExecutionEnvironment' object has no attribute 'excute'"):
        new_environment().excute()  # type: ignore[attr-defined]
    assert not hasattr(StreamExecutionEnvironment(), "create_input")


def test_arguments_that_are_for_later() -> None:
    with pytest.raises(InvalidProgramError, match="streams of two inputs"):
        stream().broadcast(MapStateDescriptor("rules", Types.STRING(), Types.STRING()))
    with pytest.raises(InvalidProgramError, match="read lines"):
        FileSource.for_bulk_file_format(None, "file")


def test_objects_that_answer_so_can_be_copied() -> None:
    env = new_environment()
    assert copy.copy(env).get_configuration() is env.get_configuration()
