"""The control line: how the driver reaches a job's slots at once, whatever Spark's tasks are at.

Commands travel with Spark's tasks, so a slot that is at work hears nothing until its task is over. To be cancelled
within a second it keeps a connection to the driver, in a thread that sleeps until something comes. If the connection
cannot be made (a firewall, say), all works but cancelling takes a few seconds, as Spark is left to end the tasks.
"""

from __future__ import annotations

import contextlib
import hmac
import secrets
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["INTERRUPT", "STOP", "ControlAddress", "ControlLine", "ControlServer"]

STOP = b"s"
"""Sources stop reading: the job is being cancelled."""
INTERRUPT = b"i"
"""Functions of the user's let go of what they are doing."""
_CONNECT_SECONDS = 3.0
_RETRY_SECONDS = 0.5
_TOKEN_BYTES = 16


@dataclass(frozen=True, slots=True)
class ControlAddress:
    """Where the driver listens, and what shows that it is a slot of this job that calls."""

    host: str
    port: int
    token: bytes = field(repr=False)


class ControlServer:
    """The driver's end, one per job."""

    def __init__(self, host: str, bind: str) -> None:
        self._listener = socket.create_server((bind, 0), backlog=256)
        self.address = ControlAddress(host, self._listener.getsockname()[1], secrets.token_bytes(_TOKEN_BYTES))
        self._lock = threading.Lock()
        self._lines: list[socket.socket] = []
        self._sent = b""
        self._closed = False
        threading.Thread(target=self._accept, name="control line", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                if self._closed:
                    return
                time.sleep(_RETRY_SECONDS)  # No files left, say: others may end soon.
                continue
            threading.Thread(target=self._welcome, args=(line,), name="control line", daemon=True).start()

    def _welcome(self, line: socket.socket) -> None:
        try:
            line.settimeout(_CONNECT_SECONDS)
            known = hmac.compare_digest(line.recv(_TOKEN_BYTES, socket.MSG_WAITALL), self.address.token)
            with self._lock:
                if known and not self._closed:
                    line.sendall(self._sent)  # A slot that comes late hears what was said before.
                    self._lines.append(line)
                    return
        except OSError:
            pass  # It does not know how to talk to us, or is gone.
        line.close()

    def send(self, message: bytes) -> None:
        """Say something to all slots."""
        with self._lock:
            self._sent += message
            for line in self._lines:
                with contextlib.suppress(OSError):
                    line.sendall(message)

    def close(self) -> None:
        """The job is over."""
        with self._lock:
            self._closed = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for line in self._lines:
                line.close()
            self._lines.clear()


class ControlLine:
    """A slot's end. Calls ``on_message`` in a thread of its own."""

    def __init__(self, address: ControlAddress | None, on_message: Callable[[bytes], None]) -> None:
        self._on_message = on_message
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None
        if address is None:
            return
        try:
            self._socket = socket.create_connection((address.host, address.port), _CONNECT_SECONDS)
            self._socket.sendall(address.token)
            self._socket.settimeout(None)
        except OSError:
            self.close()
            return
        self._thread = threading.Thread(target=self._listen, name="control line", daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        assert self._socket is not None
        with contextlib.suppress(OSError):
            while message := self._socket.recv(1):
                self._on_message(message)

    def close(self) -> None:
        """The slot is over; nothing of the line is left in the process."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
        if self._thread is not None:
            self._thread.join()
