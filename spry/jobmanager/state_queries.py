"""Questions for the state of a running job, on their way to the slots and back.

They travel with an epoch and are answered at its end: an answer is what the state holds between two records.
"""

from __future__ import annotations

import itertools
import pickle
import threading
from typing import Any

import cloudpickle

from spry.common.completable_future import CompletableFuture
from spry.common.errors import ExecutionError
from spry.common.plan import SlotReport, StateQuery

__all__ = ["StateQueries"]


class StateQueries:
    """The questions of one job."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._asked: list[StateQuery] = []
        self._travelling: tuple[StateQuery, ...] = ()
        self._open: dict[int, CompletableFuture[Any]] = {}
        self._closed: str | None = None

    @property
    def waiting(self) -> bool:
        """Whether there are questions that no epoch has taken along."""
        return bool(self._asked)

    def ask(self, name: str, key: Any) -> CompletableFuture[Any]:
        """The value of a key in the state that is called so in queries."""
        query = StateQuery(next(self._numbers), name, cloudpickle.dumps(key, 5))
        answer: CompletableFuture[Any] = CompletableFuture()
        with self._lock:
            if self._closed is not None:
                raise ExecutionError(self._closed)
            self._asked.append(query)
            self._open[query.query_id] = answer
        return answer

    def take_out(self) -> tuple[StateQuery, ...]:
        """The questions that go with the next epoch."""
        with self._lock:
            asked, self._asked = tuple(self._asked), []
            self._travelling = asked
        return asked

    def take_in(self, queries: tuple[StateQuery, ...], reports: list[SlotReport]) -> None:
        """What the slots say to the questions of an epoch. One that none answers is about no state of the job."""
        said = {query_id: answer for report in reports for query_id, answer in report.answers.items()}
        for query in queries:
            answer = self._open.pop(query.query_id)
            if query.query_id not in said:
                answer.set_exception(ExecutionError(f"the job has no queryable state '{query.name}'"))
                continue
            known, payload = said[query.query_id]
            try:
                if not known:
                    raise ExecutionError(f"queryable state '{query.name}': {payload.decode()}")
                answer.set_result(pickle.loads(payload))
            except Exception as error:
                answer.set_exception(error)

    def restart(self) -> None:
        """What was on its way with an epoch that failed is asked again."""
        with self._lock:
            waiting = {query.query_id for query in self._asked}
            lost = [query for query in self._travelling if query.query_id in self._open]
            self._asked = [query for query in lost if query.query_id not in waiting] + self._asked
            self._travelling = ()

    def close(self, why: str) -> None:
        """Nobody will answer any more."""
        with self._lock:
            self._closed = why
            for answer in self._open.values():
                answer.set_exception(ExecutionError(why))
            self._open.clear()
