"""Constants that every package may need."""

__all__ = ["DEFAULT_OUTPUT_TAG", "MAX_LONG_VALUE", "MIN_LONG_VALUE"]

MAX_LONG_VALUE = (1 << 63) - 1
"""The largest timestamp and watermark: a watermark with this value ends the stream."""

MIN_LONG_VALUE = -(1 << 63)
"""The smallest timestamp and watermark: a stream starts with it."""

DEFAULT_OUTPUT_TAG = ""
"""The id of the main output, beside those of side outputs."""
