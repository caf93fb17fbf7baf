"""What a job takes along to the workers: its plan, the user's code, files, archives and packages."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import types
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import cloudpickle

import spry
from spry.common.errors import JobSubmissionError, UnpicklableError
from spry.common.plan import JobPlan

__all__ = ["encode_plan", "prepare_worker", "resolve_file", "ship_engine"]


# Driver


def encode_plan(plan: JobPlan) -> bytes:
    """The plan as bytes, with the classes of the user's main program; says which operator cannot travel."""
    plan = replace(plan, main_classes=_main_classes(), python_path=_python_path())
    try:
        payload: bytes = cloudpickle.dumps(plan, 5)
        return payload
    except Exception as error:
        raise _name_the_operator(plan, error) from None


def _main_classes() -> dict[str, Any]:
    main = sys.modules.get("__main__")
    found = {}
    for name, value in vars(main).items() if main is not None else ():
        if isinstance(value, type) and value.__module__ == "__main__" and value.__qualname__ == name:
            try:
                cloudpickle.dumps(value)
            except Exception:
                continue  # It may still not be needed; if it is, the operator that needs it says so.
            found[name] = value
    return found


def _python_path() -> tuple[str, ...]:
    return tuple(os.path.abspath(path) for path in sys.path if os.path.isdir(path or "."))


def _name_the_operator(plan: JobPlan, error: Exception) -> UnpicklableError:
    for vertex in plan.vertices:
        for operator in vertex.operators:
            try:
                cloudpickle.dumps(operator.description, 5)
            except Exception as reason:
                return UnpicklableError(
                    f"operator '{operator.name}' cannot be sent to the workers: {_first_line(reason)}. Its "
                    f"function holds something that lives only in this process{_culprit(operator.description)}: "
                    "create it in open() instead"
                )
    return UnpicklableError(f"the job cannot be sent to the workers: {_first_line(error)}")


def _culprit(description: Any) -> str:
    """The attribute or closure variable that cannot be pickled, if it can be told."""
    function = getattr(description, "function", None)
    held: dict[str, Any] = {}
    if isinstance(function, types.FunctionType):
        names = function.__code__.co_freevars
        held |= {n: c.cell_contents for n, c in zip(names, function.__closure__ or (), strict=True)}
        held |= {n: function.__globals__[n] for n in function.__code__.co_names if n in function.__globals__}
    elif function is not None:
        held |= {f"self.{name}": value for name, value in getattr(function, "__dict__", {}).items()}
    for name, value in held.items():
        try:
            cloudpickle.dumps(value)
        except Exception:
            return f" ('{name}', a {type(value).__name__})"
    return ""


def _first_line(error: BaseException) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def ship_engine(context: Any) -> None:
    """Make this very package known to remote workers, whether or not they have it installed."""
    if context.master.startswith("local"):
        return
    directory = Path(tempfile.mkdtemp(prefix="spry-ship-"))
    archive = directory / f"spry-engine-{spry.__version__}.zip"
    root = Path(spry.__file__).parent
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(root.rglob("*.py")):
            target.write(path, Path("spry") / path.relative_to(root))
    context.addPyFile(str(archive))


def ship_files(context: Any, plan: JobPlan) -> JobPlan:
    """Give cached files, Python files and archives to Spark; the plan then names them as workers find them."""

    def add(path: str, what: str) -> str:
        if "://" not in path and not os.path.exists(path):
            raise JobSubmissionError(f"{what} '{path}' does not exist")
        return os.path.abspath(path) if "://" not in path else path

    cached: dict[str, tuple[str, bool]] = {}
    for name, (path, executable) in plan.cached_files.items():
        full = add(path, f"cached file '{name}':")
        context.addFile(full, recursive=os.path.isdir(full))
        cached[name] = (os.path.basename(full.rstrip("/")), executable)
    files = []
    for path in plan.python_files:
        full = add(path, "Python file")
        if os.path.isdir(full):
            full = _zip_package(full)
        context.addFile(full)
        files.append(os.path.basename(full))
    archives = []
    for path, target in plan.python_archives:
        full = add(path, "Python archive")
        context.addFile(full)
        archives.append((os.path.basename(full), target))
    return replace(plan, cached_files=cached, python_files=tuple(files), python_archives=tuple(archives))


def _zip_package(directory: str) -> str:
    root = Path(directory)
    archive = Path(tempfile.mkdtemp(prefix="spry-ship-")) / f"{root.name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        # A directory is either a package itself or a place that holds modules.
        base = root.parent if (root / "__init__.py").exists() else root
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                target.write(path, path.relative_to(base))
    return str(archive)


# Worker


def resolve_file(name: str) -> str:
    """Where a shipped file is on this worker."""
    from pyspark import SparkFiles

    return str(SparkFiles.get(name))


def prepare_worker(payload: bytes) -> JobPlan:
    """Make this process ready for the job, then decode its plan."""
    head = _peek(payload)
    for path in reversed(head.python_path):
        if path not in sys.path and os.path.isdir(path):
            sys.path.append(path)
    for name in head.python_files:
        path = resolve_file(name)
        if path.endswith(".py"):
            path = os.path.dirname(path)
        if path not in sys.path:
            sys.path.insert(1, path)
    for name, target in head.python_archives:
        _unpack(resolve_file(name), target or name)
    if head.requirements is not None:
        _install(head.requirements)
    job: JobPlan = cloudpickle.loads(head.plan)
    main = sys.modules["__main__"]
    for class_name, cls in job.main_classes.items():
        setattr(main, class_name, cls)
    return job


class Head:
    """What a worker must know before it can decode the plan."""

    def __init__(self, plan: JobPlan, payload: bytes, requirements: str | None) -> None:
        self.python_path = _python_path()
        self.python_files = plan.python_files
        self.python_archives = plan.python_archives
        self.requirements = requirements
        self.plan = payload


def _peek(payload: bytes) -> Head:
    head: Head = pickle.loads(payload)
    return head


def encode_job(plan: JobPlan, requirements: str | None) -> bytes:
    """What the deploy task carries."""
    return pickle.dumps(Head(plan, encode_plan(plan), requirements), 5)


def _unpack(archive: str, target: str) -> None:
    """Unpack into the worker's directory, once; functions find it relative to the working directory."""
    place = Path(tempfile.gettempdir()) / f"spry-archives-{os.getuid()}" / f"{os.getpid()}"
    directory = place / target
    if not directory.exists():
        import shutil

        directory.mkdir(parents=True)
        if archive.endswith((".zip", ".whl", ".egg")):
            with zipfile.ZipFile(archive) as source:
                source.extractall(directory)
        else:
            shutil.unpack_archive(archive, directory)
    os.chdir(place)
    if str(directory) not in sys.path:
        sys.path.insert(1, str(directory))


def _install(requirements: str) -> None:
    """Install a requirements file into a directory of this job's, once per machine."""
    import fcntl
    import hashlib

    text, _, cache = requirements.partition("\0")
    key = hashlib.sha256(requirements.encode()).hexdigest()[:16]
    place = Path(tempfile.gettempdir()) / f"spry-requirements-{os.getuid()}"
    place.mkdir(exist_ok=True)
    directory, done = place / key, place / f"{key}.done"
    with open(place / f"{key}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            listing = place / f"{key}.txt"
            listing.write_text(text)
            command = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--target",
                str(directory),
                "-r",
                str(listing),
            ]
            if cache:
                command += ["--no-index", "--find-links", cache]
            answer = subprocess.run(command, capture_output=True, text=True, check=False)
            if answer.returncode != 0:
                raise JobSubmissionError(
                    f"the Python requirements cannot be installed: {answer.stderr.strip()[-2000:]}"
                )
            done.touch()
    if str(directory) not in sys.path:
        sys.path.insert(1, str(directory))
