"""The running operators: one class per description in ``spry.common.operators``."""

from spry.runtime.operators.base import Operator, Output, create_operator

__all__ = ["Operator", "Output", "create_operator"]
