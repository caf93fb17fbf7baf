"""Sources and sinks, under the module names that PyFlink uses."""

from spry.datastream.connectors.base import DeliveryGuarantee, Sink, Source

__all__ = ["DeliveryGuarantee", "Sink", "Source"]
