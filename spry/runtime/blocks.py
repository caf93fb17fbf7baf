"""Blocks: what travels between subtasks.

A block is a run of records of one channel with the control elements between them. On the wire it is a 16 byte header
(edge, source subtask, sequence number), then one pickle of three columns: values, timestamps (or None), controls (pairs
of position and element).
"""

from __future__ import annotations

import io
import pickle
import struct
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cloudpickle

from spry.common.elements import ControlElement
from spry.common.errors import UnpicklableError

__all__ = ["Block", "BlockEncoder", "decode_block", "detach", "peek_edge"]

_HEADER = struct.Struct("<iiq")
_PROTOCOL = 5
_ATOMIC = frozenset({int, str, float, bool, bytes, type(None), complex})


@dataclass(slots=True)
class Block:
    """A run of records of one channel. ``controls`` are at positions between the values."""

    edge: int
    source: int
    sequence: int
    values: Sequence[Any]
    timestamps: Sequence[int] | None
    controls: list[tuple[int, ControlElement]]


def peek_edge(payload: bytes) -> int:
    """The edge of an encoded block."""
    edge: int = _HEADER.unpack_from(payload)[0]
    return edge


def decode_block(payload: bytes) -> Block:
    """The block that the payload holds."""
    edge, source, sequence = _HEADER.unpack_from(payload)
    values, timestamps, controls = pickle.loads(memoryview(payload)[_HEADER.size :])
    return Block(edge, source, sequence, values, timestamps, controls)


class BlockEncoder:
    """Encodes the blocks of one writer.

    Three ways to pickle, from fast to slow. Without a memo, when the records look like plain data (no object twice,
    no classes): half the time and fewer bytes. With a memo otherwise. With cloudpickle for instances of classes that
    cannot be found by name, such as those defined inside a function.
    """

    def __init__(self) -> None:
        self._memo_needed = False
        self._cloudpickle_needed = False

    def encode(
        self,
        edge: int,
        source: int,
        sequence: int,
        values: Sequence[Any],
        timestamps: Sequence[int] | None,
        controls: list[tuple[int, ControlElement]],
    ) -> bytes:
        """The wire form of a block."""
        if timestamps is not None and timestamps.__class__ is not array:
            timestamps = array("q", timestamps)
        columns = (values, timestamps, controls)
        buffer = io.BytesIO()
        buffer.write(_HEADER.pack(edge, source, sequence))
        if self._cloudpickle_needed:
            return self._with_cloudpickle(buffer, columns)
        try:
            pickler = pickle.Pickler(buffer, _PROTOCOL)
            if not self._memo_needed and (not values or _is_plain(values[0], 3)):
                pickler.fast = True
            pickler.dump(columns)
            return buffer.getvalue()
        except Exception:
            # Either a cycle (which needs the memo) or a class that only cloudpickle can carry.
            buffer.seek(_HEADER.size)
            buffer.truncate()
            if not self._memo_needed:
                self._memo_needed = True
                try:
                    pickle.Pickler(buffer, _PROTOCOL).dump(columns)
                    return buffer.getvalue()
                except Exception:
                    buffer.seek(_HEADER.size)
                    buffer.truncate()
            self._cloudpickle_needed = True
            return self._with_cloudpickle(buffer, columns)

    @staticmethod
    def _with_cloudpickle(buffer: io.BytesIO, columns: Any) -> bytes:
        try:
            buffer.write(cloudpickle.dumps(columns, _PROTOCOL))
        except Exception as error:
            raise _name_the_record(columns[0], error) from None
        return buffer.getvalue()


def _name_the_record(values: Sequence[Any], error: Exception) -> UnpicklableError:
    for value in values:
        try:
            cloudpickle.dumps(value, _PROTOCOL)
        except Exception as reason:
            text = repr(value)
            return UnpicklableError(
                f"the record {text if len(text) <= 200 else text[:197] + '...'} ({type(value).__name__}) cannot be "
                f"pickled, but has to travel to another process: {reason}. Emit plain data instead"
            )
    return UnpicklableError(f"records cannot be pickled: {error}")


def _is_plain(value: Any, depth: int) -> bool:
    cls = value.__class__
    if cls in _ATOMIC:
        return True
    if depth == 0:
        return False
    if cls is tuple or cls is list:
        return all(_is_plain(element, depth - 1) for element in value)
    if cls is dict:
        return all(_is_plain(k, 0) and _is_plain(v, depth - 1) for k, v in value.items())
    return False


def detach(value: Any) -> Any:
    """The value, or a copy of it if somebody who still holds it could change it.

    Emitted records wait in buffers. A function that emits an object and changes it afterwards (an accumulator, say)
    must not change what it has emitted.
    """
    cls = value.__class__
    if cls in _ATOMIC:
        return value
    if cls is tuple:
        for element in value:
            if element.__class__ not in _ATOMIC and detach(element) is not element:
                break
        else:
            return value
    try:
        return pickle.loads(pickle.dumps(value, _PROTOCOL))
    except Exception:
        try:
            return cloudpickle.loads(cloudpickle.dumps(value, _PROTOCOL))
        except Exception as error:
            raise _name_the_record([value], error) from None
