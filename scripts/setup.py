#!/usr/bin/env python3
"""Prepare this checkout: a virtual environment with everything in it, and a Java for Spark.

Run by `make`; doing it twice costs nothing. Kept to what Python 3.7 understands, so that an old Python gets
an answer that helps instead of a syntax error.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MIN_PYTHON = (3, 11)
MIN_JAVA = 17
HEARTBEAT_SECONDS = 15


class SetupError(Exception):
    """Something that the person at the keyboard has to do; the message says what."""


def say(text: str) -> None:
    print(text, flush=True)


def run_logged(
    command: list[str],
    log_path: str,
    env: dict[str, str] | None = None,
    interesting: Callable[[str], str | None] | None = None,
) -> None:
    """Run a command with its output in a log file; print the lines that `interesting` turns into text."""
    started = time.monotonic()
    last_word = [started]
    done = threading.Event()

    def heartbeat() -> None:
        while not done.wait(1):
            if time.monotonic() - last_word[0] >= HEARTBEAT_SECONDS:
                last_word[0] = time.monotonic()
                say(f"  ... still working ({time.monotonic() - started:.0f} s)")

    threading.Thread(target=heartbeat, daemon=True).start()
    try:
        with open(log_path, "a", encoding="utf-8") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env=env,
                cwd=ROOT,
            )
            for line in process.stdout or ():
                log.write(line)
                text = interesting(line) if interesting else None
                if text:
                    last_word[0] = time.monotonic()
                    say("  " + text)
        code = process.wait()
    finally:
        done.set()
    if code != 0:
        with open(log_path, encoding="utf-8") as log:
            tail = log.readlines()[-25:]
        raise SetupError(
            f"This command failed: {' '.join(command)}\n\n{''.join(tail)}\n"
            f"The whole output is in {os.path.relpath(log_path, ROOT)}."
        )


def runs(python: str, program: str) -> bool:
    """Whether this Python runs this program without an error."""
    try:
        answer = subprocess.run(
            [python, "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
    except OSError:
        return False
    return answer.returncode == 0


# ---- Python ---------------------------------------------------------------------------------------------


def ensure_python() -> None:
    """Go on under a Python that is new enough, looking for one beside the one that was given."""
    if sys.version_info[:2] >= MIN_PYTHON:
        return
    for minor in range(14, MIN_PYTHON[1] - 1, -1):
        newer = shutil.which(f"python3.{minor}")
        if newer and runs(newer, "pass"):  # version managers leave shims behind that do not run
            os.execv(newer, [newer, os.path.abspath(__file__), *sys.argv[1:]])
    raise SetupError(
        f"Spry needs Python {MIN_PYTHON[0]}.{MIN_PYTHON[1]} or newer; "
        f"{sys.executable} is {platform.python_version()}.\n"
        f"Install one ({python_advice()}) or name one that is there: make <target> PYTHON=/path/to/python3.11"
    )


def python_advice() -> str:
    if sys.platform == "darwin":
        return "brew install python@3.12"
    for tool, command in (
        ("apt-get", "sudo apt-get install python3.11 python3.11-venv"),
        ("dnf", "sudo dnf install python3.12"),
        ("apk", "sudo apk add python3"),
        ("pacman", "sudo pacman -S python"),
        ("winget", "winget install Python.Python.3.12"),
    ):
        if shutil.which(tool):
            return command
    return "https://www.python.org/downloads/"


# ---- The virtual environment ----------------------------------------------------------------------------


def venv_python(venv: str) -> str:
    if os.name == "nt":
        return os.path.join(venv, "Scripts", "python.exe")
    return os.path.join(venv, "bin", "python")


def fingerprint() -> str:
    """What the environment was made from: it is made anew when this changes."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as project:
        digest = hashlib.sha256(project.read())
    digest.update(ROOT.encode())
    return digest.hexdigest()


def download_line(line: str) -> str | None:
    """Turn pip's lines about larger files into progress; drop the rest."""
    match = re.match(r"\s*Downloading (\S+) \((\d[\d.]* [MG]B)\)", line)
    if match:
        return "downloading {} ({})".format(match.group(1).rsplit("/", 1)[-1], match.group(2))
    if line.startswith("Installing collected packages"):
        return "installing them"
    return None


def make_venv(venv: str, log_path: str) -> None:
    """Create the environment; on Debian, whose Python comes in pieces, fetch the missing piece if we may."""
    if not runs(sys.executable, "import ensurepip, venv"):
        package = "python{}.{}-venv".format(*sys.version_info[:2])
        if shutil.which("apt-get") and is_root():
            say(f"Installing {package} (this Python has no venv module) ...")
            apt_install([package], log_path)
        else:
            raise SetupError(
                f"{sys.executable} cannot make virtual environments. Install its venv module first;\n"
                f"on Debian and Ubuntu:\n    sudo apt-get install -y {package}"
            )
    run_logged([sys.executable, "-m", "venv", "--clear", venv], log_path)


def ensure_venv(venv: str) -> None:
    python = venv_python(venv)
    stamp = os.path.join(venv, "spry-setup")
    wanted = fingerprint()
    try:
        with open(stamp, encoding="utf-8") as made:
            if made.read() == wanted and os.path.exists(python):
                return
    except OSError:
        pass
    log_path = os.path.join(ROOT, os.path.basename(venv) + "-setup.log")
    if os.path.exists(log_path):
        os.remove(log_path)
    usable = os.path.exists(python) and runs(python, f"import sys, pip; sys.exit(sys.version_info < {MIN_PYTHON!r})")
    if usable:
        say("pyproject.toml has changed: bringing the environment up to date ...")
    else:
        say(f"Making a virtual environment in {os.path.relpath(venv, ROOT)} ...")
        make_venv(venv, log_path)
        say("Installing Spry, Spark and the developer tools into it (about 500 MB, one to five minutes) ...")
    env = dict(os.environ, PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    run_logged(
        [python, "-m", "pip", "install", "--progress-bar", "off", "--editable", ".[dev]"],
        log_path,
        env=env,
        interesting=download_line,
    )
    with open(stamp, "w", encoding="utf-8") as made:
        made.write(wanted)
    os.replace(log_path, os.path.join(venv, "setup.log"))
    say("The environment is ready.")


# ---- Java -----------------------------------------------------------------------------------------------


def java_version(java: str) -> int | None:
    """Return the major version of a `java` command, or None if it does not run."""
    try:
        # Where no Java is installed, macOS has a `java` that fails and says so: the exit code tells.
        answer = subprocess.run(
            [java, "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
            timeout=60,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', answer)
    return int(match.group(1)) if match else None


def java_install_command() -> str:
    """The command that installs a suitable Java on this kind of system."""
    if sys.platform == "darwin":
        return 'brew install openjdk@17 && export JAVA_HOME="$(brew --prefix openjdk@17)"'
    if os.name == "nt":
        return "winget install EclipseAdoptium.Temurin.17.JRE"
    for tool, command in (
        ("apt-get", "sudo apt-get update && sudo apt-get install -y openjdk-17-jre-headless"),
        ("dnf", "sudo dnf install -y java-17-openjdk-headless"),
        ("yum", "sudo yum install -y java-17-openjdk-headless"),
        ("apk", "sudo apk add openjdk17-jre-headless"),
        ("pacman", "sudo pacman -S --noconfirm jre17-openjdk-headless"),
        ("zypper", "sudo zypper install -y java-17-openjdk-headless"),
    ):
        if shutil.which(tool):
            return command
    return "see https://adoptium.net/temurin/releases/?version=17"


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def apt_install(packages: list[str], log_path: str) -> None:
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    run_logged(["apt-get", "update"], log_path, env=env)
    run_logged(["apt-get", "install", "-y", "--no-install-recommends", *packages], log_path, env=env)


def ensure_java(venv: str) -> None:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = os.path.join(home, "bin", "java")
        version = java_version(java)
        if version is None:
            raise SetupError(
                f"JAVA_HOME is {home}, but {java} does not run.\n"
                f"Point JAVA_HOME at a Java {MIN_JAVA} or newer, or unset it."
            )
        if version < MIN_JAVA:
            raise SetupError(
                f"JAVA_HOME is {home}, a Java {version}; Spark needs Java {MIN_JAVA} or newer.\n"
                f"Point JAVA_HOME at one, or unset it.\n"
                f"To install one: {java_install_command()}"
            )
        return
    found = shutil.which("java")
    version = java_version(found) if found else None
    if version is not None and version >= MIN_JAVA:
        return
    if version is None:
        state = "There is no Java on this machine"
    else:
        state = f"The Java on this machine is version {version}"
    if not (is_root() and shutil.which("apt-get")):
        raise SetupError(
            f"{state}; Spark needs Java {MIN_JAVA} or newer. Install it and run this again:\n"
            f"    {java_install_command()}"
        )
    package = "openjdk-17-jre-headless"
    say(f"{state}; installing {package} (about 200 MB) ...")
    log_path = os.path.join(venv, "java-setup.log")
    try:
        apt_install([package], log_path)
    except SetupError:
        # Newer Debian releases have dropped 17; their default is newer and suits Spark as well.
        package = "default-jre-headless"
        say(f"  no such package here; installing {package} ...")
        apt_install([package], log_path)
    found = shutil.which("java")
    version = java_version(found) if found else None
    if version is None or version < MIN_JAVA:
        still = "missing" if version is None else f"version {version}"
        raise SetupError(
            f"{package} is installed, but `java` on the PATH is still {still}.\n"
            f"Set JAVA_HOME to a Java {MIN_JAVA} or newer."
        )
    say("Java is ready.")


def main() -> int:
    parser = argparse.ArgumentParser(description="Prepare this checkout: virtual environment and Java.")
    parser.add_argument("--venv", default=".venv", help="where the virtual environment goes (%(default)s)")
    options = parser.parse_args()
    venv = os.path.join(ROOT, options.venv)
    try:
        ensure_python()
        ensure_venv(venv)
        ensure_java(venv)
    except SetupError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Run it again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
