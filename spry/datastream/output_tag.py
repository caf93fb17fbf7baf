"""OutputTag, under the module name that PyFlink uses."""

from spry.common.output_tag import OutputTag

__all__ = ["OutputTag"]
