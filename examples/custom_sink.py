"""A sink of one's own, with transactions: whole files or none.

A writer writes to a hidden file. To commit is to give it its name, in one step, so nobody ever sees half a file. A
committer may be asked twice to commit the same, hence `commit` looks whether that has been done.
"""

import os
import sys
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path

from spry.datastream import StreamExecutionEnvironment
from spry.datastream.connectors.base import (
    CommitRequest,
    Committer,
    CommitterInitContext,
    CommittingSinkWriter,
    TwoPhaseCommittingSink,
    WriterContext,
    WriterInitContext,
)


@dataclass(frozen=True)
class PendingFile:
    """A file that is complete, but still hidden."""

    hidden: str
    final: str


class FileWriter(CommittingSinkWriter[str, PendingFile]):
    """Writes lines to a hidden file; starts a new one after each commit."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._name = name
        self._number = 0
        self._lines = 0
        self._open()

    def _open(self) -> None:
        self._final = self._directory / f"{self._name}-{self._number}.txt"
        self._hidden = self._final.with_name(f".{self._final.name}.inprogress")
        self._file = open(self._hidden, "w", encoding="utf-8")  # noqa: SIM115

    def write(self, element: str, context: WriterContext) -> None:
        self._file.write(f"{element}\n")
        self._lines += 1

    def prepare_commit(self) -> list[PendingFile]:
        if not self._lines:
            return []
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        pending = PendingFile(str(self._hidden), str(self._final))
        self._number += 1
        self._lines = 0
        self._open()
        return [pending]

    def close(self) -> None:
        self._file.close()
        self._hidden.unlink(missing_ok=True)


class FileCommitter(Committer[PendingFile]):
    """Gives hidden files their names."""

    def commit(self, requests: list[CommitRequest[PendingFile]]) -> None:
        for request in requests:
            pending = request.get_committable()
            if os.path.exists(pending.hidden):
                os.replace(pending.hidden, pending.final)
            else:
                request.signal_already_committed()


class AtomicFileSink(TwoPhaseCommittingSink[str, PendingFile]):
    """Lines in files of a directory: one file per subtask and transaction."""

    def __init__(self, directory: str) -> None:
        self._directory = Path(directory).absolute()

    def create_writer(self, context: WriterInitContext) -> FileWriter:
        self._directory.mkdir(parents=True, exist_ok=True)
        # A writer of another attempt, or of another job, must not take the same names.
        return FileWriter(self._directory, f"part-{context.get_subtask_id()}-{uuid.uuid4().hex[:8]}")

    def create_committer(self, context: CommitterInitContext) -> FileCommitter:
        return FileCommitter()


def main(directory: str | None = None) -> None:
    target = directory or tempfile.mkdtemp(prefix="spry-example-")
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    env.from_sequence(1, 10).map(lambda n: f"{n} squared is {n * n}").sink_to(AtomicFileSink(target))
    env.execute("atomic files")
    for path in sorted(Path(target).iterdir()):
        lines = path.read_text(encoding="utf-8").splitlines()
        print(f"{path.name}: {len(lines)} lines, the first: {lines[0]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
