"""What a program brings along: Python requirements, files; and what importing Spry costs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from spry.datastream import MapFunction


def make_wheel(directory: Path) -> None:
    """A package as pip takes it, without building anything."""
    with zipfile.ZipFile(directory / "sprytestdep-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("sprytestdep.py", "def answer():\n    return 42\n")
        info = "sprytestdep-1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: sprytestdep\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


class Ask(MapFunction):
    def map(self, value: int) -> int:
        from sprytestdep import answer

        result: int = answer()
        return result + value


@pytest.mark.spark
def test_requirements_are_installed_on_the_workers(make_env: Any, tmp_path: Path) -> None:
    make_wheel(tmp_path)
    (tmp_path / "requirements.txt").write_text("sprytestdep==1.0\n")
    env = make_env(1)
    env.set_python_requirements(str(tmp_path / "requirements.txt"), str(tmp_path))
    assert list(env.from_collection([1]).map(Ask()).execute_and_collect()) == [43]
    # The next job's workers know nothing of it.
    env = make_env(1)
    env.from_collection([1]).map(Ask()).add_sink(lambda value: None)
    with pytest.raises(Exception, match="sprytestdep"):
        env.execute()


@pytest.mark.spark
def test_a_python_file_of_one_job_can_change_for_the_next(make_env: Any, tmp_path: Path) -> None:
    for rate in (2, 3):
        (tmp_path / "spryrates.py").write_text(f"RATE = {rate}\n")
        env = make_env(1)
        env.add_python_file(str(tmp_path / "spryrates.py"))

        def priced(value: int) -> int:
            import spryrates

            result: int = value * spryrates.RATE
            return result

        assert list(env.from_collection([10]).map(priced).execute_and_collect()) == [10 * rate]


def test_importing_spry_starts_no_spark_and_is_quick() -> None:
    code = (
        "import sys, time; t = time.perf_counter(); import spry, spry.datastream; "
        "print(time.perf_counter() - t, 'pyspark' in sys.modules, 'py4j' in sys.modules, 'pyarrow' in sys.modules)"
    )
    answers = []
    for _ in range(3):
        answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        seconds, *loaded = answer.stdout.split()
        assert loaded == ["False", "False", "False"]
        answers.append(float(seconds))
    assert min(answers) < 1.0  # A fraction of that on a machine with nothing else to do.
