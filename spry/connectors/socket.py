"""A source that reads text from a socket."""

from __future__ import annotations

import errno
import os
import select
import socket
from collections import deque
from dataclasses import dataclass
from time import monotonic

from spry.common.source import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)
from spry.common.typeinfo import TypeInformation, Types
from spry.connectors.static_splits import StaticSplitEnumerator

__all__ = ["SocketSplit", "SocketTextSource"]

_RETRY_SECONDS = 0.5
_CONNECT_SECONDS = 10.0
_POLL_SECONDS = 0.05
"""How long one poll may wait for a connection."""
_RECEIVE_SIZE = 1 << 18


@dataclass(frozen=True, slots=True)
class SocketSplit:
    """The connection."""

    unread: bytes = b""
    """What had been received but not emitted."""

    def split_id(self) -> str:
        return "socket"


class SocketTextSource(Source[SocketSplit, list[SocketSplit]]):
    """Texts that a peer sends over a connection, divided by a delimiter; it runs in one subtask.

    It connects as a client, for instance to ``nc -lk 9999``, and ends when the peer closes the connection. What
    comes is read as UTF-8; bytes that are not become ``\\ufffd``. With the delimiter ``\\n``, texts may also end
    with ``\\r\\n``. What follows the last delimiter is a text as well, unless it is empty.

    A socket cannot be read again: what had arrived when a checkpoint was made is not lost, but after a failure
    what came since the last checkpoint is.

    >>> SocketTextSource("localhost", 9999).default_parallelism()
    1

    :param hostname: The peer.
    :param port: Its port.
    :param delimiter: What divides the texts; one character or several.
    :param max_retry: How often to try again, every 500 ms, when there is no connection or it has ended; -1 for
        ever. The count starts anew when something is received.
    """

    def __init__(self, hostname: str, port: int, delimiter: str = "\n", max_retry: int = 0) -> None:
        given: dict[str, tuple[object, type]] = {
            "hostname": (hostname, str),
            "port": (port, int),
            "delimiter": (delimiter, str),
            "max_retry": (max_retry, int),
        }
        for name, (value, kind) in given.items():
            if not isinstance(value, kind) or isinstance(value, bool):
                raise TypeError(f"SocketTextSource: {name} must be of type {kind.__name__}, got {value!r}")
        if not 1 <= port <= 65535:
            raise ValueError(f"SocketTextSource: port must be from 1 to 65535, got {port}")
        if not hostname:
            raise ValueError("SocketTextSource: hostname must not be empty")
        if not delimiter:
            raise ValueError("SocketTextSource: delimiter must not be empty")
        if max_retry < -1:
            raise ValueError(f"SocketTextSource: max_retry must be at least -1, got {max_retry}")
        self.hostname = hostname
        self.port = port
        self.delimiter = delimiter
        self.max_retry = max_retry

    def gives_timestamps(self) -> bool:
        return False

    def get_boundedness(self) -> Boundedness:
        return Boundedness.CONTINUOUS_UNBOUNDED

    def get_produced_type(self) -> TypeInformation:
        return Types.STRING()

    def default_parallelism(self) -> int | None:
        return 1

    def create_enumerator(
        self, context: SplitEnumeratorContext[SocketSplit]
    ) -> SplitEnumerator[SocketSplit, list[SocketSplit]]:
        return StaticSplitEnumerator(context, [SocketSplit()])

    def restore_enumerator(
        self, context: SplitEnumeratorContext[SocketSplit], checkpoint: list[SocketSplit]
    ) -> SplitEnumerator[SocketSplit, list[SocketSplit]]:
        return StaticSplitEnumerator(context, checkpoint)

    def create_reader(self, context: SourceReaderContext) -> SourceReader[SocketSplit]:
        return _Reader(self)


class _Connector:
    """One try to connect, address after address, never waiting longer than it is told to."""

    def __init__(self, hostname: str, port: int) -> None:
        # A name may stand for several addresses, of which only some are served: localhost is ::1 and 127.0.0.1.
        self._addresses = deque(socket.getaddrinfo(hostname, port, type=socket.SOCK_STREAM))
        self._socket: socket.socket | None = None
        self._give_up_at = 0.0
        self._error = 0

    def step(self, seconds: float) -> socket.socket | None:
        """The connection, or None if it is not there yet; an OSError if no address can be reached."""
        while True:
            if self._socket is None:
                if not self._addresses:
                    raise OSError(self._error, os.strerror(self._error))
                family, kind, protocol, _, address = self._addresses.popleft()
                self._socket = socket.socket(family, kind, protocol)
                self._socket.setblocking(False)
                self._give_up_at = monotonic() + _CONNECT_SECONDS
                code = self._socket.connect_ex(address)
            else:
                code = errno.EINPROGRESS
            if code == errno.EINPROGRESS:
                if _is_writable(self._socket, seconds):
                    code = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                elif monotonic() < self._give_up_at:
                    return None
                else:
                    code = errno.ETIMEDOUT
            if not code and self._socket.getsockname() == self._socket.getpeername():
                # A port that nobody listens on may become this end's own port, and then it talks to itself.
                code = errno.ECONNREFUSED
            if not code:
                connection, self._socket = self._socket, None
                return connection
            self._error = code
            self.close()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _is_writable(connection: socket.socket, seconds: float) -> bool:
    # Not select(): it ends at 1024 open files.
    poll = select.poll()
    poll.register(connection, select.POLLOUT)
    return bool(poll.poll(seconds * 1000))


class _Texts:
    """Cuts what is received into texts."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter.encode()
        self._returns = delimiter == "\n"
        self._rest: list[bytes] = []
        """What followed the last delimiter, as it came."""
        self._ready: list[str] = []
        self._next = 0

    def add(self, data: bytes) -> None:
        """More was received."""
        # A delimiter of several bytes may have been cut in the middle, so what is left over is looked at again.
        if len(self._delimiter) == 1 and self._delimiter not in data:
            self._rest.append(data)
            return
        # The delimiter is whole characters, and in UTF-8 none is a part of another: a text is never cut inside one.
        *texts, rest = b"".join((*self._rest, data)).split(self._delimiter)
        self._rest = [rest] if rest else []
        if self._returns:
            self._put([text.removesuffix(b"\r") for text in texts])
        else:
            self._put(texts)

    def end(self) -> None:
        """Nothing more will come: what is left over is a text."""
        if self._rest:
            self._put([b"".join(self._rest)])
            self._rest = []

    def _put(self, texts: list[bytes]) -> None:
        self._ready = self._ready[self._next :]
        self._next = 0
        self._ready += [text.decode("utf-8", "replace") for text in texts]

    def take(self, most: int) -> list[str]:
        """Texts that are complete."""
        taken = self._ready[self._next : self._next + most]
        self._next += len(taken)
        return taken

    def __len__(self) -> int:
        return len(self._ready) - self._next

    def unread(self) -> bytes:
        """What was received and not taken, as it would be received."""
        # Texts are without their last \r; another that they end with must stay.
        delimiter = b"\r\n" if self._returns else self._delimiter
        return b"".join((*(text.encode() + delimiter for text in self._ready[self._next :]), *self._rest))


class _Reader(SourceReader[SocketSplit]):
    """Has a connection, or is on its way to one, or has given up."""

    def __init__(self, source: SocketTextSource) -> None:
        self._source = source
        self._texts = _Texts(source.delimiter)
        self._assigned = False
        self._ended = False
        self._no_more_splits = False
        self._was_connected = False
        self._failures = 0
        self._connect_at = 0.0
        self._connector: _Connector | None = None
        self._connection: socket.socket | None = None

    def poll_next(self, output: ReaderOutput) -> InputStatus:
        if self._assigned and not self._ended and len(self._texts) < output.max_records:
            if self._connection is None:
                self._connect()
            if self._connection is not None:
                self._receive(self._connection, output.max_records)
        texts = self._texts.take(output.max_records)
        if texts:
            output.collect_batch(texts)
        if texts or self._texts:
            return InputStatus.MORE_AVAILABLE
        if self._ended or (self._no_more_splits and not self._assigned):
            return InputStatus.END_OF_INPUT
        return InputStatus.NOTHING_AVAILABLE

    def add_splits(self, splits: list[SocketSplit]) -> None:
        self._assigned = True
        for split in splits:
            if split.unread:
                self._texts.add(split.unread)
                # The connection on which this came is gone, and with it the end of the last text.
                self._texts.end()

    def notify_no_more_splits(self) -> None:
        self._no_more_splits = True

    def snapshot_state(self, checkpoint_id: int) -> list[SocketSplit]:
        unread = self._texts.unread()
        return [SocketSplit(unread)] if self._assigned and (unread or not self._ended) else []

    def close(self) -> None:
        for end in (self._connector, self._connection):
            if end is not None:
                end.close()
        self._connector = self._connection = None

    def _connect(self) -> None:
        if monotonic() < self._connect_at:
            return
        try:
            if self._connector is None:
                self._connector = _Connector(self._source.hostname, self._source.port)
            self._connection = self._connector.step(_POLL_SECONDS)
        except OSError as e:
            self._lost(e)
            return
        if self._connection is not None:
            self._connector = None
            self._was_connected = True

    def _receive(self, connection: socket.socket, wanted: int) -> None:
        try:
            while len(self._texts) < wanted:
                data = connection.recv(_RECEIVE_SIZE)
                if not data:
                    self._lost(None)
                    return
                self._failures = 0
                self._texts.add(data)
        except BlockingIOError:
            pass
        except OSError as e:
            self._lost(e)

    def _lost(self, error: OSError | None) -> None:
        """There is no connection, or it was closed (no error): try again later, or end."""
        source = self._source
        connected = self._connection is not None
        self.close()
        self._texts.end()
        if source.max_retry == -1 or self._failures < source.max_retry:
            self._failures += 1
            self._connect_at = monotonic() + _RETRY_SECONDS
            return
        if error is not None and (connected or not self._was_connected):
            what = "lost the connection to" if connected else "cannot connect to"
            tried = f" after {self._failures} retries" if self._failures else ""
            raise ConnectionError(
                f"SocketTextSource {what} {source.hostname}:{source.port}{tried}: {error.strerror or error}. Start "
                f"what listens there first (for a try: nc -lk {source.port}), or let the source wait for it with "
                "max_retry=-1"
            ) from error
        self._ended = True
