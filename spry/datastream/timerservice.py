"""TimerService, under the module name that PyFlink uses."""

from spry.datastream.functions import TimerService

__all__ = ["TimerService"]
