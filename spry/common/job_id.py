"""The identity of a job."""

from __future__ import annotations

import re
import secrets

__all__ = ["JobID"]


class JobID:
    """32 hexadecimal digits that name one job.

    >>> str(JobID("00000000000000000000000000000001"))
    '00000000000000000000000000000001'
    """

    __slots__ = ("_hex",)

    def __init__(self, hex_string: str) -> None:
        if re.fullmatch("[0-9a-fA-F]{32}", hex_string) is None:
            raise ValueError(f"a job id has 32 hexadecimal digits, got {hex_string!r}")
        self._hex = hex_string.lower()

    @staticmethod
    def generate() -> JobID:
        """A new id, different from all others."""
        return JobID(secrets.token_hex(16))

    def to_hex_string(self) -> str:
        return self._hex

    def __eq__(self, other: object) -> bool:
        return self._hex == other._hex if isinstance(other, JobID) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._hex)

    def __reduce__(self) -> tuple[object, ...]:
        return JobID, (self._hex,)

    def __str__(self) -> str:
        return self._hex

    def __repr__(self) -> str:
        return f"JobID({self._hex!r})"
