from __future__ import annotations

import select
import socket
import struct
import threading
from collections.abc import Iterator
from time import monotonic, sleep
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spry.common.source import Boundedness, InputStatus
from spry.common.typeinfo import Types
from spry.connectors.socket import SocketTextSource
from tests.connectors.driver import SourceDriver


class Server:
    """Listens on a free port of this machine."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.connections: list[socket.socket] = []

    def accept(self) -> socket.socket:
        self.listener.settimeout(5)
        connection, _ = self.listener.accept()
        self.connections.append(connection)
        return connection

    def close(self) -> None:
        for connection in self.connections:
            connection.close()
        self.listener.close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


def connect(server: Server, **options: Any) -> tuple[SourceDriver, socket.socket]:
    driver = SourceDriver(SocketTextSource("127.0.0.1", server.port, **options))
    driver.epoch()
    return driver, server.accept()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def test_lines_as_they_come_until_the_peer_closes(server: Server) -> None:
    driver, peer = connect(server)
    peer.sendall(b"one\ntwo\r\nthr")
    assert driver.run_until(2) == ["one", "two"]
    assert not driver.epoch()
    peer.sendall(b"ee\n\nla\rst")
    assert driver.run_until(4) == ["one", "two", "three", ""]
    assert not driver.ended
    peer.close()
    assert driver.run() == ["one", "two", "three", "", "la\rst"]
    assert driver.ended


def test_it_waits_for_nothing(server: Server) -> None:
    driver, _ = connect(server)
    start = monotonic()
    for _ in range(100):
        assert driver.subtasks[0].reader.poll_next(driver.subtasks[0].output) is InputStatus.NOTHING_AVAILABLE
    assert monotonic() - start < 0.3


def test_characters_that_are_cut(server: Server) -> None:
    driver, peer = connect(server)
    for byte in "€uro 𝄞\nß\n".encode():
        peer.sendall(bytes([byte]))
        sleep(0.001)
        driver.epoch()
    assert driver.run_until(2) == ["€uro 𝄞", "ß"]
    peer.sendall(b"not \xff text\n")
    assert driver.run_until(3)[-1] == "not \ufffd text"


@pytest.mark.parametrize("delimiter", ["|", "\r\n", "<>", "ä", "--END--"])
def test_other_delimiters(server: Server, delimiter: str) -> None:
    driver, peer = connect(server, delimiter=delimiter)
    texts = ["a\nb\n", "", "ö\r", "-<|", "c"]
    for byte in delimiter.join(texts).encode():
        peer.sendall(bytes([byte]))
        driver.epoch()
    peer.close()
    expected = delimiter.join(texts).split(delimiter)
    assert driver.run() == expected


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(alphabet="ab€\r", max_size=5), max_size=30), st.lists(st.integers(1, 20)), st.integers(1, 5))
def test_any_texts_in_any_pieces(texts: list[str], pieces: list[int], at_once: int) -> None:
    server = Server()
    try:
        driver, peer = connect(server)
        data = "".join(text + "\n" for text in texts).encode()
        for piece in pieces:
            peer.sendall(data[:piece])
            data = data[piece:]
            driver.epoch(max_records=at_once)
        peer.sendall(data)
        peer.close()
        assert driver.run(at_once) == [text.removesuffix("\r") for text in texts]
    finally:
        server.close()


def test_much(server: Server) -> None:
    driver, peer = connect(server)
    lines = [f"line {i}" for i in range(200_000)]

    def send() -> None:
        peer.sendall("".join(line + "\n" for line in lines).encode())
        peer.close()

    sender = threading.Thread(target=send)
    sender.start()
    assert driver.run(4096) == lines
    sender.join()


def test_it_takes_no_more_than_it_can_pass_on(server: Server) -> None:
    driver, peer = connect(server)
    peer.setblocking(False)
    sent = 0
    while sent < 100_000_000 and select.select((), (peer,), (), 0.05)[1]:
        sent += peer.send(b"x\n" * 50_000)
        driver.epoch(polls=1, max_records=1)
    assert sent < 100_000_000


def test_what_was_received_is_in_the_checkpoint(server: Server) -> None:
    first, peer = connect(server)
    peer.sendall(b"1\n2\n3\n4\r\r\n\n\xff\npart")
    while not first.records:
        first.epoch(polls=1, max_records=2)
    assert first.records == ["1", "2"]
    checkpoint = first.checkpoint()
    first.close()
    second = SourceDriver(first.source, checkpoint=checkpoint)
    second.epoch()
    peer = server.accept()
    peer.sendall(b"6\n")
    peer.close()
    assert second.run() == ["3", "4\r", "", "\ufffd", "part", "6"]
    assert second.checkpoint().splits == [[]]
    assert SourceDriver(first.source, checkpoint=second.checkpoint()).run() == []


def test_a_checkpoint_before_there_is_anything(server: Server) -> None:
    checkpoint = SourceDriver(SocketTextSource("127.0.0.1", server.port)).checkpoint()
    driver = SourceDriver(SocketTextSource("127.0.0.1", server.port), checkpoint=checkpoint)
    driver.epoch()
    server.accept().sendall(b"a\n")
    assert driver.run_until(1) == ["a"]


def test_nobody_listens() -> None:
    port = free_port()
    driver = SourceDriver(SocketTextSource("127.0.0.1", port))
    with pytest.raises(ConnectionError) as error:
        driver.run()
    assert str(error.value) == (
        f"SocketTextSource cannot connect to 127.0.0.1:{port}: Connection refused. Start what listens there first "
        f"(for a try: nc -lk {port}), or let the source wait for it with max_retry=-1"
    )


def test_an_unknown_host() -> None:
    driver = SourceDriver(SocketTextSource("no-such-host.invalid", 9999))
    with pytest.raises(ConnectionError, match=r"cannot connect to no-such-host\.invalid:9999: \w+"):
        driver.run()


def test_retries_come_to_an_end() -> None:
    driver = SourceDriver(SocketTextSource("127.0.0.1", free_port(), max_retry=1))
    start = monotonic()
    with pytest.raises(ConnectionError, match="after 1 retries: Connection refused"):
        driver.run()
    assert 0.5 <= monotonic() - start < 2


def test_waiting_for_a_peer_does_not_hold_the_job() -> None:
    port = free_port()
    driver = SourceDriver(SocketTextSource("localhost", port, max_retry=-1))
    for _ in range(20):
        start = monotonic()
        assert driver.epoch() == 0
        assert monotonic() - start < 0.3
    with socket.create_server(("127.0.0.1", port)) as listener:
        listener.settimeout(0.01)
        until = monotonic() + 5
        while True:
            driver.epoch()
            try:
                peer, _ = listener.accept()
                break
            except TimeoutError:
                assert monotonic() < until
        with peer:
            peer.sendall(b"here\n")
            assert driver.run_until(1) == ["here"]
    driver.close()


def test_it_connects_again_when_the_peer_closes(server: Server) -> None:
    driver, peer = connect(server, max_retry=1)
    for i in range(2):
        peer.sendall(f"{i}\nrest".encode())
        peer.close()
        driver.run_until(2 * i + 2)
        until = monotonic() + 5
        while not select.select((server.listener,), (), (), 0)[0]:
            driver.epoch()
            assert monotonic() < until
        peer = server.accept()
    assert driver.records == ["0", "rest", "1", "rest"]
    # Nobody is there any more after what came had been read: that is the end, not an error.
    peer.close()
    server.listener.close()
    assert driver.run() == ["0", "rest", "1", "rest"]


def test_a_connection_that_breaks(server: Server) -> None:
    driver, peer = connect(server)
    peer.sendall(b"a\n")
    driver.run_until(1)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()  # with a reset
    with pytest.raises(ConnectionError, match=rf"lost the connection to 127.0.0.1:{server.port}: Connection reset"):
        driver.run()


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        (("", 1), ValueError, "hostname must not be empty"),
        (("h", "80"), TypeError, "port must be of type int, got '80'"),
        (("h", 0), ValueError, "port must be from 1 to 65535, got 0"),
        (("h", 1, ""), ValueError, "delimiter must not be empty"),
        (("h", 1, b"\n"), TypeError, "delimiter must be of type str"),
        (("h", 1, "\n", -2), ValueError, "max_retry must be at least -1, got -2"),
    ],
)
def test_wrong_arguments(args: tuple[Any, ...], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        SocketTextSource(*args)


def test_what_it_is() -> None:
    source = SocketTextSource("h", 1)
    assert source.get_boundedness() is Boundedness.CONTINUOUS_UNBOUNDED
    assert source.default_parallelism() == 1
    assert source.get_produced_type() == Types.STRING()
