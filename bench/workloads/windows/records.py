"""The records of the window benchmarks, and when they happen. Kept to the standard library.

Record i is (key, number, time in ms). The sequence is cut in two halves of which each begins at time 0, so that two
readers advance in event time side by side; 10 records per ms and half. For sessions, each key pauses at the end of
every tenth second.
"""

KEYS = 1000
PER_MILLI = 10
WINDOW = 10_000
GAP = 1_000
_ACTIVE = 8_000
"""Of every ten seconds, sessions have elements in so many."""

Record = tuple[int, int, int]


def half(records: int) -> int:
    """How many records each half has."""
    return records // 2


def time_of(position: int) -> int:
    """The time of the record at this position of a half."""
    return position // PER_MILLI


def session_time_of(position: int) -> int:
    """The same with pauses between sessions."""
    millis = position // PER_MILLI
    return millis // _ACTIVE * WINDOW + millis % _ACTIVE
