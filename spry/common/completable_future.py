"""Results that are not there yet."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import CancelledError, Future, InvalidStateError
from typing import Any, Generic, TypeVar

__all__ = ["CompletableFuture"]

T = TypeVar("T")


class CompletableFuture(Generic[T]):
    """A result that another thread will set.

    Wait for it with :meth:`result`, or with ``await`` in an asyncio program.

    >>> future = CompletableFuture()
    >>> future.done()
    False
    >>> future.set_result(7)
    True
    >>> future.result()
    7
    """

    def __init__(self) -> None:
        self._future: Future[T] = Future()

    @staticmethod
    def completed(result: T) -> CompletableFuture[T]:
        """A future that has this result already."""
        future: CompletableFuture[T] = CompletableFuture()
        future.set_result(result)
        return future

    def cancel(self) -> bool:
        """Give the result up. Tells whether the future is cancelled now: not if it was done before."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        """Whether the result was given up."""
        return self._future.cancelled()

    def done(self) -> bool:
        """Whether there is a result or an error, or the future was cancelled."""
        return self._future.done()

    def result(self, timeout: float | None = None) -> T:
        """Wait for the result, at most ``timeout`` seconds.

        :raises TimeoutError: It was not there in time.
        :raises concurrent.futures.CancelledError: The future was cancelled.
        :raises BaseException: The error that was set in place of a result.
        """
        return self._future.result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait as :meth:`result` does, and give the error that was set, or ``None`` if there is a result."""
        return self._future.exception(timeout)

    def set_result(self, result: T) -> bool:
        """Set the result. Tells whether this completed the future; what comes later changes nothing."""
        try:
            self._future.set_result(result)
        except InvalidStateError:
            return False
        return True

    def set_exception(self, exception: BaseException) -> bool:
        """Set an error in place of a result. Tells whether this completed the future."""
        try:
            self._future.set_exception(exception)
        except InvalidStateError:
            return False
        return True

    def add_done_callback(self, callback: Callable[[CompletableFuture[T]], Any]) -> None:
        """Call this with the future once it is done, at once if it is. The caller's thread may be any."""
        self._future.add_done_callback(lambda _: callback(self))

    def __await__(self) -> Generator[Any, None, T]:
        import asyncio

        return asyncio.wrap_future(self._future).__await__()

    def __str__(self) -> str:
        if not self._future.done():
            return "CompletableFuture(not done)"
        try:
            error = self._future.exception()
        except CancelledError:
            return "CompletableFuture(cancelled)"
        return (
            f"CompletableFuture({self._future.result()!r})"
            if error is None
            else (f"CompletableFuture(failed: {error!r})")
        )

    __repr__ = __str__
