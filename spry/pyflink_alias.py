"""Programs that import ``pyflink``, as they stand: ``pyflink.*`` becomes another name of ``spry.*``.

>>> from spry import pyflink_alias
>>> pyflink_alias.install()
>>> from pyflink.datastream import StreamExecutionEnvironment
>>> StreamExecutionEnvironment.__module__
'spry.datastream.stream_execution_environment'
>>> pyflink_alias.uninstall()

``spry run`` installs it by itself. Modules and classes are the very same ones under both names. What PyFlink has and
Spry lacks fails when it is imported, with an ImportError that says why.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["install", "installed", "uninstall"]

_ROOT = "pyflink"

_SAME = (
    "common",
    "common.completable_future",
    "common.config_options",
    "common.configuration",
    "common.constants",
    "common.execution_config",
    "common.input_dependency_constraint",
    "common.job_client",
    "common.job_execution_result",
    "common.job_id",
    "common.job_status",
    "common.restart_strategy",
    "common.serialization",
    "common.serializer",
    "common.time",
    "common.typeinfo",
    "common.types",
    "common.watermark_strategy",
    "datastream",
    "datastream.connectors",
    "datastream.connectors.base",
    "datastream.connectors.file_system",
    "datastream.connectors.number_seq",
    "datastream.data_stream",
    "datastream.execution_mode",
    "datastream.functions",
    "datastream.output_tag",
    "datastream.slot_sharing_group",
    "datastream.state",
    "datastream.stream_execution_environment",
    "datastream.time_domain",
    "datastream.window",
    "metrics",
)
"""Modules that have the same place in both."""

_MODULES = {
    "pyflink": "spry",
    **{f"pyflink.{path}": f"spry.{path}" for path in _SAME},
    "pyflink.datastream.timerservice": "spry.datastream.functions",
    "pyflink.metrics.metricbase": "spry.metrics",
}
"""PyFlink's module -> where Spry has what is in it."""


class _Aliases(MetaPathFinder, Loader):
    """Finds ``pyflink.*``, and loads the module that it stands for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != _ROOT:
            return None
        if fullname not in _MODULES:
            raise ModuleNotFoundError(f"No module named {fullname!r}: Spry has none for it", name=fullname)
        return ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        # The import system takes what is in sys.modules in the end.
        sys.modules[module.__name__] = import_module(_MODULES[module.__name__])


_FINDER = _Aliases()


def installed() -> bool:
    """Whether ``pyflink`` is another name of Spry in this process."""
    return _FINDER in sys.meta_path


def install() -> None:
    """Make ``pyflink`` another name of Spry in this process, and in the slots of its jobs. Doing so again does nothing.

    A real PyFlink in the environment is not touched, but not found either until :func:`uninstall`.
    """
    if installed():
        return
    if _ROOT in sys.modules:
        raise ImportError(
            "pyflink_alias.install() comes too late: this process has already imported the real pyflink. "
            "Call it before anything imports pyflink"
        )
    sys.meta_path.insert(0, _FINDER)


def uninstall() -> None:
    """Let ``pyflink`` be what it was before."""
    if installed():
        sys.meta_path.remove(_FINDER)
        for name in [name for name in sys.modules if name.partition(".")[0] == _ROOT]:
            del sys.modules[name]
