"""The command line without Spark: what words mean, exit codes, errors."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import spry
from spry.cli.main import main
from spry.common.options import all_options

ROOT = Path(spry.__file__).parents[1]


def program(directory: Path, text: str, name: str = "prog.py") -> str:
    path = directory / name
    path.write_text(text)
    return str(path)


SHOW = "import sys\nprint(__name__, sys.argv[1:])\n"


def test_the_program_is_main_and_has_its_arguments(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-p", "3", program(tmp_path, SHOW), "-p", "9", "--", "-D", "x"]) == 0
    assert capfd.readouterr().out == "__main__ ['-p', '9', '--', '-D', 'x']\n"


def test_options_may_be_joined_to_their_values(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = (
        "from spry.datastream import StreamExecutionEnvironment as S\n"
        "env = S.get_execution_environment()\n"
        "print(env.get_parallelism(), env.get_max_parallelism())\n"
    )
    assert main(["run", "-p3", "-Dpipeline.max-parallelism=64", program(tmp_path, text), "x"]) == 0
    assert capfd.readouterr().out == "3 64\n"
    assert main(["run", "--parallelism=5", program(tmp_path, text)]) == 0
    assert capfd.readouterr().out == "5 -1\n"


def test_what_the_program_sets_itself_wins(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = (
        "from spry.common import Configuration\n"
        "from spry.datastream import StreamExecutionEnvironment as S\n"
        "given = Configuration().set_string('parallelism.default', '2')\n"
        "env = S.get_execution_environment(given)\n"
        "print(env.get_parallelism())\n"
        "print(env.set_parallelism(8).get_parallelism())\n"
    )
    assert main(["run", "-p", "3", program(tmp_path, text)]) == 0
    assert capfd.readouterr().out == "3\n8\n", "-p wins over the configuration, set_parallelism over -p"


def test_modules_beside_the_program_are_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program(tmp_path, "NAME = 'beside'\n", "spry_test_helper.py")
    known = list(sys.path)
    assert main(["run", program(tmp_path, "import spry_test_helper\nprint(spry_test_helper.NAME)\n")]) == 0
    assert capfd.readouterr().out == "beside\n"
    assert sys.path == known


def test_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    package = tmp_path / "spry_test_package"
    package.mkdir()
    program(package, "", "__init__.py")
    program(package, SHOW, "job.py")
    program(package, "from . import job\nprint('package', __package__)\n", "__main__.py")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "-m", "spry_test_package.job", "-x", "y"]) == 0
    assert capfd.readouterr().out == "__main__ ['-x', 'y']\n"
    assert main(["run", "-m", "spry_test_package"]) == 0
    assert capfd.readouterr().out.endswith("package spry_test_package\n")


@pytest.mark.parametrize(
    ("text", "code"), [("pass", 0), ("import sys; sys.exit(5)", 5), ("import sys; sys.exit('sorry')", 1)]
)
def test_the_exit_code_is_the_programs(tmp_path: Path, text: str, code: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", program(tmp_path, text)]) == code
    assert capfd.readouterr().err == ("sorry\n" if "sorry" in text else "")


def test_an_error_of_the_program_is_shown_without_our_frames(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = (
        "def f():\n    try:\n        {}['k']\n    except KeyError as e:\n        raise ValueError('mine') from e\nf()\n"
    )
    path = program(tmp_path, text)
    assert main(["run", path]) == 1
    err = capfd.readouterr().err
    assert err.endswith("ValueError: mine\n")
    assert "KeyError: 'k'" in err
    assert f'File "{path}", line 6, in <module>' in err
    assert str(ROOT / "spry") not in err
    assert "runpy" not in err


def test_a_mistake_in_the_use_of_the_api_shows_the_users_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    head = "from spry.datastream import StreamExecutionEnvironment as S\nenv = S.get_execution_environment()\n"
    assert main(["run", program(tmp_path, head + "env.execute()\n")]) == 1
    err = capfd.readouterr().err
    assert err.startswith("spry: nothing to execute")
    assert err.endswith("prog.py, line 3: env.execute()\n")
    assert "Traceback" not in err


def test_a_syntax_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", program(tmp_path, "print('a'\n")]) == 1
    err = capfd.readouterr().err
    assert "SyntaxError" in err
    assert "line 1" in err
    assert str(ROOT / "spry") not in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run"], "spry: name the program"),
        (["run", "missing.py"], "spry: program 'missing.py' does not exist"),
        (["run", "."], "spry: program '.' is a directory"),
        (["run", "-m", "no_such_module_at_all"], "spry: there is no module 'no_such_module_at_all'"),
        (["run", "-m", "no_such_package_at_all.job"], "spry: module 'no_such_package_at_all.job' cannot be run"),
        (["info", "-D", "a", "missing.py"], "spry: program 'missing.py' does not exist"),
    ],
)
def test_mistakes_on_the_command_line(words: list[str], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capfd.readouterr().err.startswith(message)


def test_an_unknown_option_names_the_nearest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-D", "spry.epoch.intervall=1s", program(tmp_path, "print('ran')")]) == 2
    captured = capfd.readouterr()
    assert "did you mean 'spry.epoch.interval'" in captured.err
    assert captured.out == ""


def test_unknown_words(capfd: pytest.CaptureFixture[str]) -> None:
    for words in (["walk"], ["run", "--fast", "x.py"]):
        with pytest.raises(SystemExit) as leaving:
            main(words)
        assert leaving.value.code == 2


def test_help_shows_examples(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "spry run job.py" in capfd.readouterr().out
    for command, example in (("run", "-p 4"), ("info", "--json"), ("options", "| grep")):
        with pytest.raises(SystemExit) as leaving:
            main([command, "--help"])
        assert leaving.value.code == 0
        assert example in capfd.readouterr().out.split("examples:")[1]


def test_options_lists_all(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["options"]) == 0
    out = capfd.readouterr().out
    assert [option.key for option in all_options() if f"| `{option.key}` |" not in out] == []


def command(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        [sys.executable, "-m", "spry", *words], capture_output=True, text=True, env=environment, timeout=60, check=False
    )


def test_version_as_a_module() -> None:
    answer = command("--version")
    assert answer.stdout.startswith(f"spry {spry.__version__} (Python {sys.version_info[0]}.{sys.version_info[1]}")
    assert answer.returncode == 0


def test_a_reader_that_goes_away_is_no_error() -> None:
    script = f"{sys.executable} -m spry options | head -n 1"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run(script, shell=True, capture_output=True, text=True, env=environment, check=False)
    assert answer.stdout == "# Configuration\n"
    assert answer.stderr == ""


def test_help_needs_neither_spark_nor_yaml() -> None:
    code = (
        "import sys\nfrom spry.cli.main import main\nmain([])\n"
        "sys.exit(any(name in sys.modules for name in ('pyspark', 'pyarrow', 'yaml', 'cloudpickle')))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=False)
    assert answer.returncode == 0


def test_detached(tmp_path: Path) -> None:
    text = "import os, sys, time\nprint('pid', os.getpid(), sys.argv[1:])\ntime.sleep(60)\n"
    started = time.monotonic()
    answer = command("run", "-p", "2", "-d", program(tmp_path, text), "-d", "x", SPRY_LOG_DIR=str(tmp_path / "logs"))
    assert answer.returncode == 0
    assert time.monotonic() - started < 20
    [log] = (tmp_path / "logs").iterdir()
    pid = int(answer.stdout.split("process ")[1].split(",")[0])
    assert f"log {log}" in answer.stdout
    assert log.name.startswith("prog-")
    try:
        wait_for(lambda: f"pid {pid} ['-d', 'x']" in log.read_text())
        assert os.getsid(pid) == pid
    finally:
        os.kill(pid, 15)
    wait_for(lambda: log.read_text().endswith("spry: cancelled\n"))


def test_detached_checks_first(tmp_path: Path) -> None:
    answer = command("run", "-d", "missing.py", SPRY_LOG_DIR=str(tmp_path / "logs"))
    assert answer.returncode == 2
    assert not (tmp_path / "logs").exists()


def wait_for(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
