from __future__ import annotations

import io
import os

import pytest

from spry.common.options import ProgressMode
from spry.jobmanager.progress import Progress, console_lines


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr("spry.jobmanager.progress.time.monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_a_log_gets_a_line_now_and_then(clock: Clock) -> None:
    stream = io.StringIO()
    progress = Progress("job", ProgressMode.AUTO, 5.0, stream)
    for epoch in range(1, 13):
        clock.now += 1.0
        progress.update(epoch, epoch * 1500, True)
    assert stream.getvalue().splitlines() == [
        "job: epoch 5, 7.5k records, 1.5k/s, catching up, 5 s",
        "job: epoch 10, 15.0k records, 1.5k/s, catching up, 10 s",
    ]
    assert "\x1b" not in stream.getvalue()


def test_a_terminal_gets_one_line_that_changes(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    size = os.terminal_size((60, 20))
    monkeypatch.setattr("spry.jobmanager.progress.shutil.get_terminal_size", lambda: size)
    stream = Terminal()
    progress = Progress(
        "a job with a very long name that does not fit into the terminal", ProgressMode.AUTO, 5.0, stream
    )
    for epoch in range(3):
        clock.now += 0.2
        progress.update(epoch, 0, False)
    assert "\n" not in stream.getvalue()
    drawn = stream.getvalue().split("\r\x1b[2K")
    assert len(drawn) == 4
    assert all(len(line) < 60 for line in drawn)
    progress.clear()
    assert stream.getvalue().endswith("\r\x1b[2K")
    length = len(stream.getvalue())
    progress.clear()
    assert len(stream.getvalue()) == length, "there is nothing left to clear"


def test_redrawing_is_not_more_frequent_than_eyes_are(clock: Clock) -> None:
    stream = Terminal()
    progress = Progress("job", ProgressMode.LIVE, 5.0, stream)
    for epoch in range(1000):
        clock.now += 0.001
        progress.update(epoch, 0, False)
    assert stream.getvalue().count("job: epoch") <= 11


def test_nothing_is_shown_in_mode_none(clock: Clock) -> None:
    stream = Terminal()
    progress = Progress("job", ProgressMode.NONE, 0.0, stream)
    clock.now += 100
    progress.update(1, 1, True)
    progress.note("text")
    progress.clear()
    assert stream.getvalue() == ""


def test_states_and_notes(clock: Clock) -> None:
    stream = io.StringIO()
    progress = Progress("job", ProgressMode.LOG, 1.0, stream)
    clock.now += 2
    progress.update(7, 3_200_000, False)
    progress.note("restarting")
    Progress("", ProgressMode.LOG, 1.0, stream).note("Spark started")
    assert stream.getvalue().splitlines() == [
        "job: epoch 7, 3.2M records, 1.6M/s, up to date, 2 s",
        "job: restarting",
        "Spark started",
    ]


def test_printed_lines_go_to_their_streams_and_the_live_line_makes_room(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = Terminal()
    progress = Progress("job", ProgressMode.LIVE, 1.0, stream)
    clock.now += 1
    progress.update(1, 1, True)
    console_lines([(False, "one"), (True, "error"), (False, "two")], progress)
    out, err = capsys.readouterr()
    assert (out, err) == ("one\ntwo\n", "error\n")
    assert stream.getvalue().endswith("\r\x1b[2K")
    before = stream.getvalue()
    console_lines([], progress)
    assert stream.getvalue() == before
