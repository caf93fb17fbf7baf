"""TimeDomain, under the module name that PyFlink uses."""

from spry.common.time_domain import TimeDomain

__all__ = ["TimeDomain"]
