"""Runs the programs on the real PyFlink and writes what they give to ``expected.json``: ``make oracle``.

    python -m tests.oracle.record            # all programs
    python -m tests.oracle.record NAME ...   # these

PyFlink is installed into an environment of its own when it is not there; it needs Java 11 or 17.
"""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import os
import re
import sys
import time
from typing import Any

from tests.oracle.program import EXPECTED, loaded, names

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Of an object in memory: another one each time."""

_GIVE_UP = 120
"""Seconds after which a program hangs."""


def _run(name: str, configuration: Any) -> dict[str, Any]:
    from pyflink.datastream import StreamExecutionEnvironment

    with loaded(name) as program:
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(1)
        try:
            stream = program.define(env)
            with stream.execute_and_collect() as results:
                lines = [_ADDRESS.sub("", str(result)) for result in results]
        except Exception as error:
            if not hasattr(program, "FAILS") and not hasattr(program, "RULES"):
                raise
            return {"fails": _last_line(error)}
        return {"results": lines if getattr(program, "ORDERED", False) else sorted(lines)}


def _last_line(error: Exception) -> str:
    """The innermost cause that the JVM names."""
    lines = [line for line in str(error).splitlines() if line.startswith(("Caused by", ": ", type(error).__name__))]
    return (lines or str(error).splitlines() or [""])[-1]


def _record(chosen: list[str]) -> None:
    from pyflink.common import Configuration

    configuration = Configuration()
    configuration.set_string("python.execution-mode", "thread")
    known = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    for name in chosen or names():
        began = time.monotonic()
        faulthandler.dump_traceback_later(_GIVE_UP, exit=True)
        try:
            found = _run(name, configuration)
        except Exception as error:
            print(f"{name}: FAILED: {_last_line(error)}", flush=True)
            known.pop(name, None)
            continue
        finally:
            faulthandler.cancel_dump_traceback_later()
        note = "" if known.get(name) in (None, found) else f" CHANGED, it was {known[name]}"
        print(f"{name}: {time.monotonic() - began:.1f} s{note}", flush=True)
        known[name] = found
        _write({key: value for key, value in known.items() if key in names()})


def _write(recorded: dict[str, Any]) -> None:
    EXPECTED.write_text(json.dumps(recorded, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def main() -> None:
    if importlib.util.find_spec("pyflink") is not None:
        _record(sys.argv[1:])
        return
    from bench.peers import interpreter, process_environment

    python = interpreter("pyflink", print)
    os.execve(str(python), [str(python), "-m", "tests.oracle.record", *sys.argv[1:]], process_environment(python))


if __name__ == "__main__":
    main()
