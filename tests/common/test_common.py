"""The package as a whole, and what is too small for a file of its own."""

from __future__ import annotations

import doctest
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import spry.common
from spry.common import Duration, InputDependencyConstraint, OutputTag, Row, RuntimeExecutionMode, Types
from spry.common.constants import DEFAULT_OUTPUT_TAG, MAX_LONG_VALUE, MIN_LONG_VALUE

ROOT = Path(spry.common.__file__).parents[2]

DOCUMENTED = [
    "completable_future",
    "config_options",
    "configuration",
    "job_execution_result",
    "job_id",
    "option_registry",
    "options",
    "output_tag",
    "restart_strategy",
    "serialization",
    "time",
    "type_checks",
    "typeinfo",
    "types",
    "watermark_strategy",
]


@pytest.mark.parametrize("module", DOCUMENTED)
def test_the_examples_of_the_documentation(module: str) -> None:
    failed, _ = doctest.testmod(import_module(f"spry.common.{module}"))
    assert failed == 0


def test_all_names_can_be_imported() -> None:
    for name in spry.common.__all__:
        assert getattr(spry.common, name) is not None
        assert name in dir(spry.common)
    missing: Any = "NoSuchName"
    with pytest.raises(AttributeError, match="NoSuchName"):
        getattr(spry.common, missing)


def test_modules_list_their_names() -> None:
    modules = {module.name for module in pkgutil.iter_modules(spry.common.__path__)}
    assert modules.issuperset(DOCUMENTED)
    for name in DOCUMENTED:
        module = import_module(f"spry.common.{name}")
        assert all(hasattr(module, public) for public in module.__all__)


def test_the_import_loads_nothing_heavy() -> None:
    code = "import sys, spry.common; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "spry.common" in loaded
    assert not {"asyncio", "yaml", "pyspark", "pyarrow", "spry.common.typeinfo"} & set(loaded)


def test_output_tags() -> None:
    tag = OutputTag("late", Types.STRING())
    assert tag == OutputTag("late") and hash(tag) == hash(OutputTag("late"))
    assert tag != OutputTag("early", Types.STRING())
    assert OutputTag("late").type_info == Types.PICKLED_BYTE_ARRAY()
    assert OutputTag("late", [Types.INT()]).type_info == Types.ROW([Types.INT()])
    restored = pickle.loads(pickle.dumps(tag))
    assert (restored.tag_id, restored.type_info) == ("late", Types.STRING())


@pytest.mark.parametrize("tag_id", ["", None, 1])
def test_output_tags_need_an_id(tag_id: Any) -> None:
    with pytest.raises(ValueError, match="not empty"):
        OutputTag(tag_id)


def test_output_tags_need_a_type() -> None:
    wrong: Any = 3
    with pytest.raises(TypeError, match=r"type_info of OutputTag\('late'\)"):
        OutputTag("late", wrong)


def test_constants() -> None:
    assert (MIN_LONG_VALUE, MAX_LONG_VALUE) == (-(2**63), 2**63 - 1)
    assert DEFAULT_OUTPUT_TAG == ""
    assert [mode.name for mode in RuntimeExecutionMode] == ["STREAMING", "BATCH", "AUTOMATIC"]
    assert [constraint.value for constraint in InputDependencyConstraint] == [0, 1]
    assert Row(1) and Duration.of_millis(1)
