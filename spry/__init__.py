"""Spry: the programming model of Apache Flink, in Python, on Apache Spark."""

__all__ = ["__version__"]
__version__ = "0.1.0"
