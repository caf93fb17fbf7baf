"""NumberSequenceSource, under the module name that PyFlink uses."""

from spry.connectors.number_seq import NumberSequenceSource

__all__ = ["NumberSequenceSource"]
