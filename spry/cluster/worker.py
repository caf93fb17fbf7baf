"""What PySpark runs in a slot's process: a task per level, which hands over to the slot that lives there.

Each slot has a worker process of its own (see ``spry.cluster.slots``). The task finds its slot in this module's
registry; a task that does not find it, or that comes out of order, says so and the job fails.
"""

from __future__ import annotations

import base64
import gc
import os
import pickle
import signal
import struct
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

from spry.cluster.control import INTERRUPT, ControlAddress, ControlLine
from spry.cluster.hygiene import ProcessState, hush
from spry.cluster.shipping import ShippedFiles, prepare_worker
from spry.common.errors import ExecutionError, FailureInfo
from spry.common.plan import EpochCommand, JobPlan, SlotReport
from spry.runtime.failures import failure_of
from spry.runtime.slot import HeapKeeper, Slot, encode_report

__all__ = ["COMMAND_PROPERTY", "FOR_GOOD", "CloseTask", "DeployTask", "LevelTask"]

COMMAND_PROPERTY = "spry.command"
FOR_GOOD = "for good"
"""In place of a command, with the tasks that close slots: the job is not deployed anew."""
_INTERRUPT = signal.SIGUSR1
"""What the control line's thread sends to the thread that the user's functions run in."""
_TARGET = struct.Struct(">q")
_EXIT_DELAY = 0.5


class _LiveSlot:
    """A slot, and how far it has come."""

    def __init__(self, slot: Slot, attempt: int, before: ProcessState, line: ControlLine) -> None:
        self.slot = slot
        self.before = before
        self.line = line
        self.attempt = attempt
        self.epoch = 0
        self.level = slot.job.levels - 1
        self.heap = HeapKeeper()
        self.busy = False

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """While the user's functions run, which may be interrupted."""
        self.busy = True
        try:
            yield
        finally:
            self.busy = False


_SLOTS: dict[tuple[str, int], _LiveSlot] = {}
"""This process's slots: one, or one per slot if Spark was made to share workers."""


class DeployTask:
    """Makes the slot and opens its functions."""

    def __init__(self, slot: int, plan: Any, control: ControlAddress | None) -> None:
        self._slot = slot
        self._plan = plan
        self._control = control

    def __call__(self, partition: int, iterator: Iterable[Any]) -> Iterator[bytes]:
        for _ in iterator:
            pass
        yield self._deploy()

    def _deploy(self) -> bytes:
        gc.set_threshold(50_000, 20, 50)
        before = ProcessState()
        listener = _Listener()
        line = ControlLine(self._control, listener)
        try:
            files = ShippedFiles()
            job: JobPlan = prepare_worker(self._plan.value, files)
            slot = Slot(job, self._slot, files, stopping=listener.stopping.is_set)
            listener.check()
        except BaseException as error:  # A module that is imported with the functions may even end the interpreter.
            info = failure_of(error)
            if not isinstance(error, ExecutionError):
                info = replace(info, summary=f"the job cannot be unpickled in a worker: {info.summary}")
            line.close()
            before.restore()
            return encode_report(SlotReport(self._slot, 0, os.getpid(), failure=info))
        _SLOTS[(job.job_id, self._slot)] = live = _LiveSlot(slot, job.attempt, before, line)
        with live.at_work():
            report = slot.deploy()
        live.heap.end_of_task()
        return encode_report(report)


class LevelTask:
    """Runs one level of an epoch in the slot."""

    def __init__(self, job_id: str, slot: int, level: int, last: bool) -> None:
        self._key = (job_id, slot)
        self._level = level
        self._last = last

    def __call__(self, partition: int, iterator: Iterable[bytes]) -> Iterator[bytes]:
        command = _command()
        live = _SLOTS.get(self._key)
        problem = self._problem(live, command)
        if problem is not None or live is None:
            for _ in iterator:
                pass
            if self._last:
                info = FailureInfo(problem or "", slot_lost=True)
                yield encode_report(SlotReport(self._key[1], command.epoch, os.getpid(), failure=info))
            return
        live.epoch, live.level = command.epoch, self._level
        if self._level == 0:
            for _ in iterator:
                pass  # Only there to say where the task runs.
            iterator = ()
        with live.at_work():
            for target, payload in live.slot.run_level(self._level, command, iterator):
                if not self._last:
                    yield _TARGET.pack(target)
                    yield payload
        if self._last:
            yield encode_report(live.slot.end_epoch(command))
        live.heap.end_of_task()

    def _problem(self, live: _LiveSlot | None, command: EpochCommand) -> str | None:
        if live is None:
            return (
                f"slot {self._key[1]} lost its process and what was in it (a new process {os.getpid()} is in its place)"
            )
        if live.attempt != command.attempt:
            return f"slot {self._key[1]} is of attempt {live.attempt}, the command of attempt {command.attempt}"
        levels = live.slot.job.levels
        expected = (live.epoch, live.level + 1) if live.level + 1 < levels else (live.epoch + 1, 0)
        if (command.epoch, self._level) != expected:
            return (
                f"slot {self._key[1]} was given epoch {command.epoch} level {self._level} but expects "
                f"epoch {expected[0]} level {expected[1]}: Spark ran a task twice or lost one"
            )
        return None


class CloseTask:
    """Closes the slot's functions. The process stays for another job if it is fit for one, or ends."""

    def __init__(self, job_id: str, slot: int) -> None:
        self._key = (job_id, slot)

    def __call__(self, partition: int, iterator: Iterable[bytes]) -> Iterator[bytes]:
        for _ in iterator:
            pass
        yield self._close()

    def _close(self) -> bytes:
        live = _SLOTS.pop(self._key, None)
        if live is None:
            report = SlotReport(self._key[1], 0, os.getpid(), process_stays=True)
        else:
            report = live.slot.close(live.epoch, _property() == FOR_GOOD)
            live.line.close()
            before = live.before
            del live
            report.process_stays = before.restore() and report.failure is None
        payload = encode_report(report)
        if not report.process_stays:
            _exit_soon()
        hush(report.process_stays)
        return payload


class _Cancelled(BaseException):
    """Unwinds a function of the user's when the job is cancelled."""


def _interrupt(number: int, frame: FrameType | None) -> None:
    if any(live.busy for live in _SLOTS.values()):
        raise _Cancelled("the job is being cancelled")


class _Listener:
    """What a slot does on the driver's word."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self._interrupted = False
        signal.signal(_INTERRUPT, _interrupt)

    def __call__(self, message: bytes) -> None:
        self.stopping.set()
        if message == INTERRUPT:
            self._interrupted = True
            os.kill(os.getpid(), _INTERRUPT)

    def check(self) -> None:
        """Raise if the word came while there was nothing to interrupt yet."""
        if self._interrupted:
            raise ExecutionError("the job is being cancelled")


def _property() -> str | None:
    """What the driver says to the tasks of one Spark job."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.getLocalProperty(COMMAND_PROPERTY)


def _command() -> EpochCommand:
    text = _property()
    assert text is not None
    command: EpochCommand = pickle.loads(base64.b64decode(text))
    return command


def _exit_soon() -> None:
    """End this process once the task is over: its name is never used again."""

    def leave() -> None:
        sys.stdout.flush()
        os._exit(0)

    timer = threading.Timer(_EXIT_DELAY, leave)
    timer.daemon = True
    timer.start()
