"""The control line, without Spark: both ends in one process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from spry.cluster.control import INTERRUPT, STOP, ControlAddress, ControlLine, ControlServer

WAIT = 10.0


class Heard:
    """What a slot heard, in order."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self._changed = threading.Condition()

    def __call__(self, message: bytes) -> None:
        with self._changed:
            self.messages.append(message)
            self._changed.notify_all()

    def wait_for(self, *messages: bytes) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self.messages == list(messages), WAIT)


@pytest.fixture
def server() -> Iterator[ControlServer]:
    made = ControlServer("127.0.0.1", "127.0.0.1")
    yield made
    made.close()


def test_all_slots_hear_what_the_driver_says_also_those_that_come_later(server: ControlServer) -> None:
    first, second = Heard(), Heard()
    early = ControlLine(server.address, first)
    server.send(STOP)
    assert first.wait_for(STOP)
    late = ControlLine(server.address, second)
    assert second.wait_for(STOP)
    server.send(INTERRUPT)
    assert first.wait_for(STOP, INTERRUPT)
    assert second.wait_for(STOP, INTERRUPT)
    early.close()
    late.close()


def test_a_line_that_is_closed_leaves_no_thread(server: ControlServer) -> None:
    line = ControlLine(server.address, Heard())
    assert line._thread is not None
    line.close()
    assert not line._thread.is_alive()
    server.send(STOP)  # Nobody is there any more.


def test_lines_end_with_the_server() -> None:
    server = ControlServer("127.0.0.1", "127.0.0.1")
    line = ControlLine(server.address, heard := Heard())
    server.send(STOP)
    assert heard.wait_for(STOP)
    server.close()
    assert line._thread is not None
    line._thread.join(WAIT)
    assert not line._thread.is_alive()
    line.close()


def test_who_does_not_know_the_token_hears_nothing(server: ControlServer) -> None:
    server.send(STOP)
    with socket.create_connection((server.address.host, server.address.port)) as stranger:
        stranger.settimeout(WAIT)
        stranger.sendall(b"?" * 16)
        assert stranger.recv(1) == b""


def test_a_slot_lives_without_a_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    for address in (None, ControlAddress("127.0.0.1", port, b"0" * 16)):
        ControlLine(address, Heard()).close()
