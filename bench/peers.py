"""The environments that engines run in.

Every peer has a virtual environment of its own under `.bench/venvs`, made when it is first needed, so that no
peer's dependencies meet Spry's.
"""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ROOT", "PeerError", "interpreter", "process_environment"]

ROOT = Path(__file__).resolve().parent.parent
VENVS = ROOT / ".bench" / "venvs"


class PeerError(Exception):
    """A peer cannot be installed here; the message says why."""


@dataclass(frozen=True)
class Environment:
    requirements: tuple[str, ...]
    newest_python: tuple[int, int]
    """The newest Python that the peer supports."""


def _spark_requirements() -> tuple[str, ...]:
    version = importlib.metadata.version("pyspark")
    return (f"pyspark=={version}", "pandas>=2.2,<3", "pyarrow", "protobuf")


def _environment(name: str) -> Environment:
    if name == "bytewax":
        return Environment(("bytewax==0.21.1",), newest_python=(3, 13))
    if name == "pyflink":
        return Environment(("apache-flink==2.3.0",), newest_python=(3, 12))
    if name == "spark":
        return Environment(_spark_requirements(), newest_python=(3, 13))
    raise PeerError(f"there is no environment named {name!r}")


def _suitable_python(name: str, newest: tuple[int, int]) -> str:
    if sys.version_info[:2] <= newest:
        return sys.executable
    for minor in range(newest[1], 10, -1):
        found = shutil.which(f"python3.{minor}")
        if found and subprocess.run([found, "-c", "import venv"], check=False).returncode == 0:
            return found
    raise PeerError(f"{name} needs Python {newest[0]}.{newest[1]} or older, and there is none on the PATH")


def _own_environment_serves(name: str) -> bool:
    """Spark's own peer can run beside Spry, if the packages that it needs happen to be there."""
    return name == "spark" and all(
        importlib.util.find_spec(package) for package in ("pyspark", "pandas", "pyarrow", "google.protobuf")
    )


def interpreter(name: str, say: Callable[[str], None]) -> Path:
    """Return the Python of a peer's environment; make the environment if it is missing."""
    if not name or _own_environment_serves(name):
        return Path(sys.executable)
    venv = VENVS / name
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if python.exists():
        return python
    environment = _environment(name)
    base = _suitable_python(name, environment.newest_python)
    say(f"installing {name} into {venv.relative_to(ROOT)} (once) ...")
    # Made beside its place and moved there at the end would break its scripts; so remove it when it fails.
    commands = (
        [base, "-m", "venv", str(venv)],
        [str(python), "-m", "pip", "install", "--quiet", "--upgrade", "pip", "setuptools", "wheel"],
        [str(python), "-m", "pip", "install", "--quiet", *environment.requirements],
    )
    for command in commands:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd=ROOT)
        if done.returncode != 0:
            shutil.rmtree(venv, ignore_errors=True)
            raise PeerError(f"{name} cannot be installed here:\n{(done.stderr or done.stdout)[-2000:]}")
    return python


def process_environment(python: Path) -> dict[str, str]:
    """The environment variables for a program: its own Python first on the PATH, this checkout importable."""
    variables = {key: value for key, value in os.environ.items() if key not in ("VIRTUAL_ENV", "PYTHONHOME")}
    variables["PATH"] = os.pathsep.join([str(python.parent), variables.get("PATH", "")])
    variables["PYTHONPATH"] = str(ROOT)
    return variables
