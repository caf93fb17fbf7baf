"""Lengths of time, and moments."""

from __future__ import annotations

from functools import total_ordering

__all__ = ["Duration", "Instant", "Time"]

_NANOS_PER_MILLI = 1_000_000
_NANOS_PER_SECOND = 1_000_000_000


def _whole_number(owner: str, name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{owner}: {name} must be an int, got {value!r} ({type(value).__name__})")
    return value


@total_ordering
class Duration:
    """A length of time, exact to the nanosecond.

    >>> Duration.of_minutes(2) == Duration.of_seconds(120)
    True
    >>> str(Duration.of_millis(1500))
    '1500 ms'
    """

    __slots__ = ("_nanos",)

    def __init__(self, nanos: int) -> None:
        self._nanos = _whole_number("Duration", "nanos", nanos)

    @staticmethod
    def of_days(days: int) -> Duration:
        return Duration(_whole_number("Duration.of_days", "days", days) * 86_400 * _NANOS_PER_SECOND)

    @staticmethod
    def of_hours(hours: int) -> Duration:
        return Duration(_whole_number("Duration.of_hours", "hours", hours) * 3_600 * _NANOS_PER_SECOND)

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        return Duration(_whole_number("Duration.of_minutes", "minutes", minutes) * 60 * _NANOS_PER_SECOND)

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        return Duration(_whole_number("Duration.of_seconds", "seconds", seconds) * _NANOS_PER_SECOND)

    @staticmethod
    def of_millis(millis: int) -> Duration:
        return Duration(_whole_number("Duration.of_millis", "millis", millis) * _NANOS_PER_MILLI)

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        return Duration(_whole_number("Duration.of_nanos", "nanos", nanos))

    def to_millis(self) -> int:
        """The length in whole milliseconds; what is left of a millisecond is dropped."""
        return self._nanos // _NANOS_PER_MILLI

    def to_milliseconds(self) -> int:
        """The same as :meth:`to_millis`, under the name that :class:`Time` has for it."""
        return self.to_millis()

    def to_nanos(self) -> int:
        """The length in nanoseconds."""
        return self._nanos

    def __eq__(self, other: object) -> bool:
        return self._nanos == other._nanos if isinstance(other, Duration) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._nanos < other._nanos if isinstance(other, Duration) else NotImplemented

    def __hash__(self) -> int:
        return hash((Duration, self._nanos))

    def __str__(self) -> str:
        millis, nanos = divmod(self._nanos, _NANOS_PER_MILLI)
        return f"{self._nanos} ns" if nanos else f"{millis} ms"

    def __repr__(self) -> str:
        return f"Duration({self})"


@total_ordering
class Instant:
    """A moment on the time line: seconds since the epoch, and nanoseconds (0 to 999,999,999) from there."""

    __slots__ = ("nanos", "seconds")

    def __init__(self, seconds: int, nanos: int) -> None:
        self.seconds = seconds
        self.nanos = nanos

    def to_epoch_milli(self) -> int:
        """Milliseconds since the epoch; what is left of a millisecond is dropped."""
        return self.seconds * 1_000 + self.nanos // _NANOS_PER_MILLI

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        """The moment that is this many milliseconds after the epoch."""
        seconds, millis = divmod(epoch_milli, 1_000)
        return Instant(seconds, millis * _NANOS_PER_MILLI)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instant):
            return NotImplemented
        return self.seconds == other.seconds and self.nanos == other.nanos

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Instant):
            return NotImplemented
        return (self.seconds, self.nanos) < (other.seconds, other.nanos)

    def __hash__(self) -> int:
        return hash((self.seconds, self.nanos))

    def __reduce__(self) -> tuple[object, ...]:
        return Instant, (self.seconds, self.nanos)

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


@total_ordering
class Time:
    """A length of time in milliseconds, for the sizes of windows.

    >>> Time.minutes(1) == Time.seconds(60)
    True
    >>> str(Time.seconds(3))
    '3000 ms'
    """

    __slots__ = ("_milliseconds",)

    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = _whole_number("Time", "milliseconds", milliseconds)

    def to_milliseconds(self) -> int:
        """The length in milliseconds."""
        return self._milliseconds

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        return Time(_whole_number("Time.seconds", "seconds", seconds) * 1_000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        return Time(_whole_number("Time.minutes", "minutes", minutes) * 60_000)

    @staticmethod
    def hours(hours: int) -> Time:
        return Time(_whole_number("Time.hours", "hours", hours) * 3_600_000)

    @staticmethod
    def days(days: int) -> Time:
        return Time(_whole_number("Time.days", "days", days) * 86_400_000)

    def __eq__(self, other: object) -> bool:
        return self._milliseconds == other._milliseconds if isinstance(other, Time) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._milliseconds < other._milliseconds if isinstance(other, Time) else NotImplemented

    def __hash__(self) -> int:
        return hash((Time, self._milliseconds))

    def __str__(self) -> str:
        return f"{self._milliseconds} ms"

    def __repr__(self) -> str:
        return f"Time({self})"
