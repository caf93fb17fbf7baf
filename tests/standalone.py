"""A standalone Spark cluster on this machine, from the installed PySpark: a master and two workers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import pyspark


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    assert found, "Java is needed"
    return found


@dataclass
class StandaloneCluster:
    """Started by ``start``, ended by ``stop``; listens on the loopback interface only."""

    workers: int = 2
    cores: int = 2
    url: str = ""
    directory: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="spry-standalone-")))
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def _launch(self, name: str, main_class: str, *args: str) -> Path:
        log = self.directory / f"{name}.log"
        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_SCALA_VERSION": "2.13",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_WORKER_DIR": str(self.directory / name),
        }
        opens = [
            f"--add-opens=java.base/{package}=ALL-UNNAMED"
            for package in (
                "java.lang",
                "java.lang.invoke",
                "java.io",
                "java.net",
                "java.nio",
                "java.util",
                "sun.nio.ch",
            )
        ]
        command = [_java(), "-Xmx512m", *opens, "-cp", f"{home}/jars/*", main_class, *args]
        with log.open("wb") as output:
            self.processes.append(
                subprocess.Popen(command, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
            )
        return log

    def _wait_for(self, log: Path, pattern: str) -> str:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            match = re.search(pattern, log.read_text(errors="replace"))
            if match:
                return match[0]
            time.sleep(0.1)
        raise TimeoutError(f"{log.name}: no {pattern!r} in\n{log.read_text(errors='replace')[-3000:]}")

    def start(self) -> StandaloneCluster:
        package = "org.apache.spark.deploy"
        log = self._launch(
            "master", f"{package}.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"
        )
        self.url = self._wait_for(log, r"spark://127\.0\.0\.1:\d+")
        for number in range(self.workers):
            log = self._launch(
                f"worker{number}",
                f"{package}.worker.Worker",
                "--host", "127.0.0.1", "--webui-port", "0", "-c", str(self.cores), "-m", "1g", self.url,
            )  # fmt: skip
            self._wait_for(log, "Successfully registered with master")
        return self

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)
