"""RuntimeExecutionMode, under the module name that PyFlink uses."""

from spry.common.execution_mode import RuntimeExecutionMode

__all__ = ["RuntimeExecutionMode"]
