"""``import pyflink`` as another name of Spry."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import spry.common
import spry.datastream
from spry import pyflink_alias
from spry.cli.main import main

ROOT = Path(spry.__file__).parents[1]


@pytest.fixture
def pyflink() -> Iterator[None]:
    pyflink_alias.install()
    yield
    pyflink_alias.uninstall()


@pytest.mark.usefixtures("pyflink")
@pytest.mark.parametrize("name", sorted(pyflink_alias._MODULES))
def test_modules_are_those_of_spry(name: str) -> None:
    assert importlib.import_module(name) is sys.modules[pyflink_alias._MODULES[name]]


@pytest.mark.usefixtures("pyflink")
def test_every_form_of_import() -> None:
    names: dict[str, Any] = {}
    exec(
        "import pyflink.datastream.window\n"
        "import pyflink.datastream.connectors.number_seq as numbers\n"
        "from pyflink import datastream\n"
        "from pyflink.common import *\n"
        "from pyflink.common.time import Time as T\n"
        "from pyflink.datastream import timerservice, CountWindow, StreamExecutionEnvironment\n"
        "from pyflink.metrics.metricbase import Counter\n"
        "from pyflink.version import __version__\n",
        names,
    )
    assert names["pyflink"].datastream.DataStream is spry.datastream.DataStream
    assert names["datastream"] is spry.datastream
    assert names["numbers"].NumberSequenceSource.__module__ == "spry.connectors.number_seq"
    assert names["T"] is names["Time"]
    assert names["timerservice"].TimerService is spry.datastream.TimerService
    assert names["__version__"] == spry.__version__


@pytest.mark.usefixtures("pyflink")
@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("from pyflink.datastream import CoMapFunction", "streams of two inputs .* are not there yet"),
        ("from pyflink.datastream.functions import AsyncFunction", "not there yet"),
        ("from pyflink.datastream.data_stream import ConnectedStreams", "'pyflink.datastream.data_stream.Connected"),
        ("from pyflink.datastream.connectors.kafka import KafkaSource", "write a Source .* of your own"),
        ("from pyflink.datastream.connectors import jdbc", "write a Source .* of your own"),
        ("from pyflink.datastream.connectors.file_system import FileCompactor", "finished files are not merged"),
        ("from pyflink.datastream.formats.json import JsonRowDeserializationSchema", "parse them in a map function"),
        ("from pyflink.table import StreamTableEnvironment", "Table API and SQL are not there yet"),
        ("import pyflink.table.expressions", "use the DataStream API"),
        ("from pyflink import table", "use the DataStream API"),
        ("from pyflink.java_gateway import get_gateway", "Java objects"),
        ("from pyflink.util.java_utils import to_jarray", "Java objects"),
        ("from pyflink.common import AssignerWithPeriodicWatermarksWrapper", "for_generator"),
        ("import pyflink.nonsense", "Spry has no 'pyflink.nonsense'"),
        ("from pyflink.datastream import Nonsense", "Nonsense"),
    ],
)
def test_what_is_missing_fails_on_import_and_says_why(statement: str, reason: str) -> None:
    with pytest.raises(ImportError, match=reason):
        exec(statement)


@pytest.mark.usefixtures("pyflink")
def test_the_tables_name_nothing_that_is_there() -> None:
    """Whoever adds one of these takes it off the tables."""
    for name in pyflink_alias._MISSING_MODULES:
        assert name not in pyflink_alias._MODULES
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name.replace("pyflink", "spry", 1))
    for target in set(pyflink_alias._MODULES.values()):
        assert not set(pyflink_alias._WHY) & set(vars(importlib.import_module(target))), target


def test_modules_are_as_before_when_it_is_gone() -> None:
    pyflink_alias.install()
    pyflink_alias.install()
    importlib.import_module("pyflink.datastream")
    assert spry.datastream.__spec__ is not None and spry.datastream.__spec__.name == "spry.datastream"
    pyflink_alias.uninstall()
    pyflink_alias.uninstall()
    assert not pyflink_alias.installed()
    assert type(spry.datastream) is ModuleType
    assert not hasattr(spry.datastream, "CoMapFunction")
    assert not [name for name in sys.modules if name.partition(".")[0] == "pyflink"]
    assert importlib.util.find_spec("pyflink") is None


def test_it_takes_the_place_of_a_real_pyflink(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyflink.py").write_text("REAL = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    pyflink_alias.install()
    assert importlib.import_module("pyflink") is spry
    pyflink_alias.uninstall()
    assert importlib.import_module("pyflink").REAL
    try:
        with pytest.raises(ImportError, match="has already imported the real pyflink"):
            pyflink_alias.install()
        pyflink_alias.uninstall()
        assert "pyflink" in sys.modules, "what is not ours is left alone"
    finally:
        del sys.modules["pyflink"]


PROGRAM = "import pyflink.datastream as d\nprint(d.__name__)\n"


def test_spry_run_and_spry_info_install_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "prog.py"
    path.write_text(PROGRAM)
    assert main(["run", str(path)]) == 0
    assert capfd.readouterr().out == "spry.datastream\n"
    assert not pyflink_alias.installed()
    assert main(["run", "--no-pyflink-alias", str(path)]) == 1
    assert "ModuleNotFoundError: No module named 'pyflink'" in capfd.readouterr().err
    path.write_text(
        "from pyflink.datastream import StreamExecutionEnvironment\n"
        "env = StreamExecutionEnvironment.get_execution_environment()\n"
        "env.from_collection([1]).print()\n"
        "env.execute('aliased')\n"
    )
    assert main(["info", str(path)]) == 0
    assert "aliased" in capfd.readouterr().out


def test_a_missing_name_is_shown_with_the_line_that_imports_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "prog.py"
    path.write_text("from pyflink.datastream import ConnectedStreams\n")
    assert main(["run", str(path)]) == 1
    error = capfd.readouterr().err
    assert "prog.py" in error and "from pyflink.datastream import ConnectedStreams" in error
    assert "ImportError: Spry has no 'pyflink.datastream.ConnectedStreams': streams of two inputs" in error
    assert "pyflink_alias.py" not in error


def test_the_example_of_the_documentation() -> None:
    failed, tried = doctest.testmod(pyflink_alias, optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    assert tried == 6 and not failed


def test_importing_it_loads_nothing_else() -> None:
    code = (
        "import sys; from spry import pyflink_alias; pyflink_alias.install(); "
        "sys.exit(any(name.startswith('spry.') and name != 'spry.pyflink_alias' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


HELPER = """\
from pyflink.common import Row
from pyflink.datastream import MapFunction


class Double(MapFunction):
    def map(self, value):
        from pyflink.common.time import Time

        return Row(n=2 * value, ms=Time.seconds(value).to_milliseconds())
"""


@pytest.mark.spark
def test_modules_of_the_program_import_pyflink_in_the_slots_too(
    make_env: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spry_pyflink_helper.py").write_text(HELPER)
    monkeypatch.syspath_prepend(str(tmp_path))
    pyflink_alias.install()
    try:
        helper = importlib.import_module("spry_pyflink_helper")
        results = list(make_env(2).from_collection([1, 2]).map(helper.Double()).execute_and_collect())
        assert sorted(results, key=lambda row: row.n) == [spry.common.Row(n=2, ms=1000), spry.common.Row(n=4, ms=2000)]
    finally:
        pyflink_alias.uninstall()
        sys.modules.pop("spry_pyflink_helper", None)

    def known(value: int) -> bool:
        import importlib.util

        return importlib.util.find_spec("pyflink") is not None

    assert list(make_env(1).from_collection([1]).map(known).execute_and_collect()) == [False], "the next job's slots"
