"""State that does not fit in memory: in a process that may have 700 MB, 800 MB of state."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (700 << 20, 700 << 20))
from spry.datastream import KeyedProcessFunction
from spry.datastream.state import ValueStateDescriptor
from spry.runtime.testing import OperatorHarness

class Keep(KeyedProcessFunction):
    def open(self, runtime_context):
        self.kept = runtime_context.get_state(ValueStateDescriptor("kept"))
    def process_element(self, value, ctx):
        before = self.kept.value()
        if before is None:
            self.kept.update(value.to_bytes(8, "little") * 512)
        else:
            yield int.from_bytes(before[:8], "little")

configuration = {"state.backend.type": sys.argv[1], "spry.state.rocksdb.cache-entries": "2000"}
harness = OperatorHarness(Keep(), lambda n: n, configuration=configuration)
for start in range(0, 200_000, 1000):
    harness.push(*range(start, start + 1000))
    harness.end_epoch()
harness.push(*range(0, 200_000, 97))
assert harness.values() == list(range(0, 200_000, 97))
harness.close()
"""


def run(backend: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _PROGRAM, backend]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not hold processes to a limit")
def test_rocksdb_takes_what_memory_does_not() -> None:
    on_heap = run("hashmap")
    assert on_heap.returncode != 0 and "MemoryError" in on_heap.stderr
    on_disk = run("rocksdb")
    assert on_disk.returncode == 0, on_disk.stderr[-3000:]
