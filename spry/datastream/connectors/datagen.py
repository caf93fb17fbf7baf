"""The data generator, under the module name that PyFlink uses."""

from spry.connectors.datagen import DataGeneratorSource, GeneratorFunction
from spry.connectors.rate_limiter import RateLimiterStrategy

__all__ = ["DataGeneratorSource", "GeneratorFunction", "RateLimiterStrategy"]
