"""Metrics that functions keep, under the module name that PyFlink uses."""

from spry.common.metrics import Counter, Distribution, Gauge, Meter, Metric, MetricGroup

__all__ = ["Counter", "Distribution", "Gauge", "Meter", "Metric", "MetricGroup"]
