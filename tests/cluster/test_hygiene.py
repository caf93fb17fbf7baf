"""Worker processes between two jobs."""

from __future__ import annotations

import os

import pytest

from spry.cluster.hygiene import hush


def test_between_jobs_a_process_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(2, b"before ")
    hush(True)
    os.write(2, b"idle ")
    hush(True)
    hush(False)
    os.write(2, b"after")
    hush(False)
    assert capfd.readouterr().err == "before after"
