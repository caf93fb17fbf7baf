"""Reading the state of a running job from another process on the same machine."""

from __future__ import annotations

import base64
import pickle
import threading
from typing import Any

from spry.common.completable_future import CompletableFuture
from spry.common.job_id import JobID
from spry.common.job_registry import ask, find_job

__all__ = ["QueryableStateClient"]


class QueryableStateClient:
    """Asks running jobs of this user for the values of their queryable states.

    >>> client = QueryableStateClient()
    >>> client.get_kv_state("word-count", "counts", "spry").result()  # doctest: +SKIP
    42

    Within the program that runs the job, ``JobClient.query_state`` does the same.
    """

    def get_kv_state(self, job: JobID | str, queryable_state_name: str, key: Any) -> CompletableFuture[Any]:
        """What the state holds for the key at the end of an epoch, ``None`` if nothing.

        :param job: The job's id, the beginning of it, or the job's name.
        :param queryable_state_name: What ``set_queryable`` or ``as_queryable_state`` called the state.
        """
        found = find_job(str(job))
        payload = base64.b64encode(pickle.dumps(key)).decode()
        answer: CompletableFuture[Any] = CompletableFuture()

        def wait() -> None:
            try:
                value = ask(found, {"do": "query", "name": queryable_state_name, "key": payload})
                answer.set_result(pickle.loads(base64.b64decode(value)))
            except Exception as error:
                answer.set_exception(error)

        threading.Thread(target=wait, name="state query", daemon=True).start()
        return answer
