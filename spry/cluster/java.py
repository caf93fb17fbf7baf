"""Finding Java, which Spark needs."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

from spry.common.errors import JobSubmissionError

__all__ = ["check_java", "install_hint"]

_REQUIRED = 17


def install_hint() -> str:
    """The command that installs Java here."""
    system = platform.system()
    if system == "Darwin":
        return "brew install openjdk@17"
    if system == "Windows":
        return "winget install Microsoft.OpenJDK.17"
    for tool, command in (
        ("apt-get", "apt-get update && apt-get install -y openjdk-17-jre-headless"),
        ("dnf", "dnf install -y java-17-openjdk-headless"),
        ("apk", "apk add openjdk17-jre-headless"),
        ("pacman", "pacman -S --noconfirm jre17-openjdk-headless"),
        ("zypper", "zypper install -y java-17-openjdk-headless"),
    ):
        if shutil.which(tool):
            return command if os.geteuid() == 0 else f"sudo sh -c '{command}'"
    return "install a Java runtime, version 17 or later, and set JAVA_HOME"


def check_java() -> None:
    """Raise an error that says what to do if there is no Java, or one that is too old."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        where = f"JAVA_HOME is {home!r}, but there is no bin/java in it" if home else "no 'java' on the PATH"
        raise JobSubmissionError(
            f"Spark needs Java {_REQUIRED} or later and found none ({where}). Run: {install_hint()}"
        )
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except OSError as error:
        raise JobSubmissionError(f"cannot run {java}: {error}. Run: {install_hint()}") from None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', answer.stderr + answer.stdout)
    if match:
        version = int(match[2] or 0) if match[1] == "1" else int(match[1])
        if version < _REQUIRED:
            raise JobSubmissionError(
                f"Spark needs Java {_REQUIRED} or later, but {java} is version {version}. Run: {install_hint()}"
            )
