"""State descriptors and state interfaces, under the module name that PyFlink uses."""

from spry.common.state import *  # noqa: F403
from spry.common.state import __all__  # noqa: F401
