"""State descriptors and state interfaces, under the module name that PyFlink uses."""

from spry.common.checkpoint import OperatorStateStore
from spry.common.state import *  # noqa: F403
from spry.common.state import __all__ as _of_keys
from spry.common.state_ttl import StateTtlConfig

__all__ = ["OperatorStateStore", "StateTtlConfig", *_of_keys]  # noqa: PLE0604
