"""What a job takes along to the workers: its plan, the user's code, files, archives and packages."""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import types
import uuid
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import cloudpickle

import spry
from spry import pyflink_alias
from spry.common.errors import JobSubmissionError, UnpicklableError
from spry.common.plan import JobPlan

__all__ = ["ShippedFiles", "encode_job", "prepare_worker", "ship_engine", "ship_files"]


_SHIPPED: set[str] = set()
"""The Spark applications that know the engine."""


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
    if context.master.startswith("local") or context.applicationId in _SHIPPED:
        return
    _SHIPPED.add(context.applicationId)
    directory = Path(tempfile.mkdtemp(prefix="spry-ship-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    archive = directory / f"spry-engine-{spry.__version__}.zip"
    root = Path(spry.__file__).parent
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(root.rglob("*.py")):
            target.write(path, Path("spry") / path.relative_to(root))
    context.addPyFile(str(archive))


def ship_files(context: Any, plan: JobPlan) -> JobPlan:
    """Give cached files, Python files and archives to Spark; the plan then names them as workers find them."""
    cached = {}
    for name, (path, executable) in plan.cached_files.items():
        cached[name] = (_ship(context, path, f"cached file '{name}':"), executable)
    files = []
    for path in plan.python_files:
        # Modules keep their names inside an archive with a name of its own.
        local = _zip_package(path) if "://" not in path and (os.path.isdir(path) or path.endswith(".py")) else path
        files.append(_ship(context, local, "Python file"))
    archives = [
        (_ship(context, path, "Python archive"), target or os.path.basename(path))
        for path, target in plan.python_archives
    ]
    return replace(plan, cached_files=cached, python_files=tuple(files), python_archives=tuple(archives))


def _ship(context: Any, path: str, what: str) -> str:
    """Add a file to the Spark application; gives the name that workers find it by.

    Spark keeps one flat directory of files per application, so each gets a name that no other job uses.
    """
    if "://" in path:
        context.addFile(path)
        return os.path.basename(path)
    if not os.path.exists(path):
        raise JobSubmissionError(f"{what} '{path}' does not exist")
    unique = f"{uuid.uuid4().hex[:12]}-{os.path.basename(os.path.abspath(path))}"
    staged = Path(tempfile.mkdtemp(prefix="spry-ship-")) / unique
    atexit.register(shutil.rmtree, staged.parent, ignore_errors=True)
    if os.path.isdir(path):
        shutil.copytree(path, staged)
    else:
        try:
            os.link(path, staged)
        except OSError:
            shutil.copy2(path, staged)
    context.addFile(str(staged), recursive=staged.is_dir())
    return unique


def _zip_package(path: str) -> str:
    root = Path(path).absolute()
    if not root.exists():
        raise JobSubmissionError(f"Python file '{path}' does not exist")
    directory = tempfile.mkdtemp(prefix="spry-ship-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    archive = Path(directory) / f"{root.stem}.zip"
    if root.is_file():
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
            target.write(root, root.name)
        return str(archive)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        # A directory is either a package itself or a place that holds modules.
        base = root.parent if (root / "__init__.py").exists() else root
        for file in sorted(root.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                target.write(file, file.relative_to(base))
    return str(archive)


# Worker


class ShippedFiles:
    """Where shipped files are on this worker, whatever the working directory becomes."""

    def __init__(self) -> None:
        from pyspark import SparkFiles

        self._root = os.path.abspath(SparkFiles.getRootDirectory())

    def __call__(self, name: str) -> str:
        return os.path.join(self._root, name)


def prepare_worker(payload: bytes, resolve_file: ShippedFiles) -> JobPlan:
    """Make this process ready for the job, then decode its plan."""
    head = _peek(payload)
    _check_versions(head.versions)
    for path in reversed(head.python_path):
        if path not in sys.path and os.path.isdir(path):
            sys.path.append(path)
    for name in head.python_files:
        path = resolve_file(name)
        if path not in sys.path:
            sys.path.insert(1, path)
    for name, target in head.python_archives:
        _unpack(resolve_file(name), target or name)
    if head.requirements is not None:
        _install(head.requirements)
    # Modules of the program's, which unpickling imports, may import pyflink as the program does.
    if head.pyflink_alias:
        pyflink_alias.install()
    else:
        pyflink_alias.uninstall()
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
        self.versions = _versions()
        self.pyflink_alias = pyflink_alias.installed()
        self.plan = payload


def _versions() -> dict[str, str]:
    """What must be the same here and there, so that functions survive the journey."""
    return {"Python": f"{sys.version_info[0]}.{sys.version_info[1]}", "cloudpickle": cloudpickle.__version__}


def _check_versions(driver: dict[str, str]) -> None:
    for name, version in _versions().items():
        if driver[name] != version:
            raise JobSubmissionError(
                f"the program runs with {name} {driver[name]}, but the worker {sys.executable} has {version}: "
                "set PYSPARK_PYTHON (or spark.pyspark.python) to an interpreter like the program's"
            )


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
        directory.mkdir(parents=True)
        if archive.endswith((".zip", ".whl", ".egg")):
            with zipfile.ZipFile(archive) as source:
                source.extractall(directory)
        else:
            shutil.unpack_archive(archive, directory)
    _make_paths_absolute()
    os.chdir(place)
    if str(directory) not in sys.path:
        sys.path.insert(1, str(directory))


def _make_paths_absolute() -> None:
    """Spark puts what it ships on the path relative to the working directory, which is about to change."""
    sys.path[:] = [os.path.abspath(path) for path in sys.path]
    for module in list(sys.modules.values()):
        places = getattr(module, "__path__", None)
        if isinstance(places, list):
            places[:] = [os.path.abspath(place) for place in places]


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
