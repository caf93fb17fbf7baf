from __future__ import annotations

import asyncio
import threading
from concurrent.futures import CancelledError

import pytest

from spry.common.completable_future import CompletableFuture


def test_a_result_from_another_thread() -> None:
    future: CompletableFuture[int] = CompletableFuture()
    assert not future.done()
    assert str(future) == "CompletableFuture(not done)"
    timer = threading.Timer(0.02, future.set_result, [7])
    timer.start()
    assert future.result(timeout=10) == 7
    assert future.done() and not future.cancelled()
    assert future.exception() is None
    assert str(future) == "CompletableFuture(7)"


def test_an_error() -> None:
    future: CompletableFuture[int] = CompletableFuture()
    assert future.set_exception(KeyError("k"))
    with pytest.raises(KeyError):
        future.result()
    assert isinstance(future.exception(), KeyError)
    assert str(future) == "CompletableFuture(failed: KeyError('k'))"


def test_the_first_to_complete_it_wins() -> None:
    future = CompletableFuture.completed(1)
    assert future.set_result(2) is False
    assert future.set_exception(KeyError()) is False
    assert future.cancel() is False
    assert future.result() == 1


def test_cancel() -> None:
    future: CompletableFuture[int] = CompletableFuture()
    assert future.cancel()
    assert future.cancelled() and future.done()
    assert future.set_result(1) is False
    with pytest.raises(CancelledError):
        future.result()
    assert str(future) == "CompletableFuture(cancelled)"


def test_a_result_that_is_not_there_in_time() -> None:
    with pytest.raises(TimeoutError):
        CompletableFuture().result(timeout=0.01)


def test_callbacks_get_the_future() -> None:
    future: CompletableFuture[int] = CompletableFuture()
    seen: list[CompletableFuture[int]] = []
    future.add_done_callback(seen.append)
    assert seen == []
    future.set_result(1)
    future.add_done_callback(seen.append)
    assert seen == [future, future]


def test_await() -> None:
    async def program() -> int:
        future: CompletableFuture[int] = CompletableFuture()
        timer = threading.Timer(0.02, future.set_result, [5])
        timer.start()
        return await future

    assert asyncio.run(program()) == 5
