"""Keys as bytes: equal keys give equal bytes, and different keys give different ones.

No encoding is the beginning of another, so that more may follow it in a row's key. Plain keys (numbers, texts, bytes,
None, tuples of these, time windows) can be read back. Of others, the row keeps the key itself beside the value:
``True`` and ``1.0`` are the key ``1``, as for a dict, but should come back as what they were.

Objects with an ``__eq__`` of their own are taken apart as pickle does it: they are equal if their parts are.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import numbers
import struct
import uuid
from fractions import Fraction
from typing import Any

from spry.common.errors import InvalidKeyError
from spry.common.types import Row, values_by_name
from spry.common.window import GlobalWindow, TimeWindow

__all__ = ["decode_key", "encode_key", "key_bytes"]

_FLOAT = struct.Struct(">d")
_SHORT = [bytes([n]) for n in range(255)]
_SHORT_TEXTS = [b"s" + size for size in _SHORT]
_INT_BOUND = 1 << 63
_UTC = datetime.UTC


def key_bytes(key: Any) -> tuple[bytes, bool]:
    """A key's bytes, and whether :func:`decode_key` gives the very same key back."""
    cls = key.__class__
    if cls is str:
        data = key.encode("utf-8", "surrogatepass")
        if len(data) < 255:
            return _SHORT_TEXTS[len(data)] + data, True
    elif cls is int and -_INT_BOUND <= key < _INT_BOUND:
        return b"i" + key.to_bytes(8, "big", signed=True), True
    out = bytearray()
    plain = encode_key(key, out)
    return bytes(out), plain


def encode_key(key: Any, out: bytearray) -> bool:
    """Append a key's bytes to others; says what :func:`key_bytes` says."""
    cls = key.__class__
    if cls is str:
        _text(b"s", key, out)
        return True
    if cls is int:
        _integer(key, out)
        return True
    if cls is tuple:
        out += b"t"
        out += _size(len(key))
        plain = True
        for element in key:
            plain &= encode_key(element, out)
        return plain
    if key is None:
        out += b"n"
        return True
    if cls is bytes:
        _bytes(b"b", key, out)
        return True
    if cls is float and not key.is_integer():
        out += b"f"
        out += _FLOAT.pack(key)
        return True
    if cls is TimeWindow:
        out += b"w"
        return encode_key(key.start, out) & encode_key(key.end, out)
    if cls is GlobalWindow:
        out += b"g"
        return True
    try:
        _encode_other(key, cls, out)
    except RecursionError:
        raise InvalidKeyError(f"the key, a {cls.__name__}, contains itself") from None
    return False


def decode_key(data: bytes, at: int = 0) -> tuple[Any, int]:
    """The plain key whose bytes are there, and where they end."""
    tag = data[at]
    at += 1
    if tag == _STR:
        length, at = _read_size(data, at)
        return data[at : at + length].decode("utf-8", "surrogatepass"), at + length
    if tag == _INT:
        return int.from_bytes(data[at : at + 8], "big", signed=True), at + 8
    if tag == _TUPLE:
        length, at = _read_size(data, at)
        elements = []
        for _ in range(length):
            element, at = decode_key(data, at)
            elements.append(element)
        return tuple(elements), at
    if tag == _NONE:
        return None, at
    if tag == _BYTES:
        length, at = _read_size(data, at)
        return data[at : at + length], at + length
    if tag == _DOUBLE:
        return _FLOAT.unpack_from(data, at)[0], at + 8
    if tag == _BIG:
        length, at = _read_size(data, at)
        return int.from_bytes(data[at : at + length], "big", signed=True), at + length
    if tag == _WINDOW:
        start, at = decode_key(data, at)
        end, at = decode_key(data, at)
        return TimeWindow(start, end), at
    if tag == _GLOBAL:
        return GlobalWindow.get(), at
    raise ValueError(f"not a plain key: {data!r}")


_STR, _INT, _TUPLE, _NONE, _BYTES, _DOUBLE, _BIG, _WINDOW, _GLOBAL = b"sitnbfIwg"


# Plain keys


def _size(length: int) -> bytes:
    return _SHORT[length] if length < 255 else b"\xff" + length.to_bytes(4, "big")


def _read_size(data: bytes, at: int) -> tuple[int, int]:
    length = data[at]
    return (length, at + 1) if length < 255 else (int.from_bytes(data[at + 1 : at + 5], "big"), at + 5)


def _bytes(tag: bytes, data: bytes, out: bytearray) -> None:
    out += tag
    out += _size(len(data))
    out += data


def _text(tag: bytes, text: str, out: bytearray) -> None:
    _bytes(tag, text.encode("utf-8", "surrogatepass"), out)


def _integer(value: int, out: bytearray) -> None:
    try:
        data = value.to_bytes(8, "big", signed=True)
    except OverflowError:
        _bytes(b"I", value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True), out)
        return
    out += b"i"
    out += data


# Others


def _encode_other(key: Any, cls: Any, out: bytearray) -> None:
    if cls.__module__ == "numpy" and hasattr(key, "item"):
        encode_key(key.item(), out)
    elif isinstance(key, numbers.Number) and not _has_own_equality(cls, key):
        _number(key, out)
    elif isinstance(key, str) and cls.__eq__ is str.__eq__:
        _text(b"s", str.__str__(key), out)
    elif isinstance(key, bytes) and cls.__eq__ is bytes.__eq__:
        _bytes(b"b", bytes(key), out)
    elif isinstance(key, tuple) and cls.__eq__ is tuple.__eq__:
        encode_key(tuple(key), out)
    elif isinstance(key, TimeWindow) and cls.__eq__ is TimeWindow.__eq__:
        encode_key(TimeWindow(key.start, key.end), out)
    elif isinstance(key, Row):
        _row(key, out)
    elif isinstance(key, frozenset):
        _unordered(b"S", key, out)
    elif isinstance(key, enum.Enum) and cls.__hash__ is enum.Enum.__hash__:
        _path(b"e", cls, out)
        _text(b"s", key.name, out)
    elif cls is datetime.datetime:
        _datetime(key, out)
    elif cls is uuid.UUID:
        _bytes(b"u", key.bytes, out)
    elif dataclasses.is_dataclass(cls) and _is_generated(cls.__eq__):
        _path(b"d", cls, out)
        encode_key(tuple([getattr(key, field.name) for field in dataclasses.fields(cls) if field.compare]), out)
    elif isinstance(key, type):
        _path(b"c", key, out)
    else:
        _object(key, out)


def _has_own_equality(cls: Any, key: Any) -> bool:
    known = next((base for base in (int, float, complex, decimal.Decimal, Fraction) if isinstance(key, base)), None)
    return known is not None and cls.__eq__ is not known.__eq__


def _is_generated(equality: Any) -> bool:
    code = getattr(equality, "__code__", None)
    return code is not None and code.co_filename == "<string>"


def _number(key: Any, out: bytearray) -> None:
    """Numbers of all types that are equal are one key."""
    if isinstance(key, numbers.Complex) and not isinstance(key, numbers.Real):
        value = complex(key)
        if value.imag == 0:
            _number(value.real, out)
            return
        out += b"z"
        out += _FLOAT.pack(value.real + 0.0)  # Not -0.0.
        out += _FLOAT.pack(value.imag)
        return
    if isinstance(key, numbers.Integral):
        _integer(int(key), out)
        return
    try:
        above, below = key.as_integer_ratio()
    except (OverflowError, ValueError):
        encode_key(float(key), out)  # Infinities.
        return
    if below == 1:
        _integer(above, out)
        return
    try:
        nearest = above / below
        exact = nearest.as_integer_ratio() == (above, below)
    except OverflowError:
        exact = False
    if exact:
        out += b"f"
        out += _FLOAT.pack(nearest)
    else:
        out += b"q"
        _integer(above, out)
        _integer(below, out)


def _row(row: Row, out: bytearray) -> None:
    fields, values = row._fields, row._values
    names = None if fields is None else tuple(sorted(fields) if len(fields) == len(values) else fields)
    out += b"r"
    encode_key((row.get_row_kind().value, names, values_by_name(row)), out)


def _datetime(key: datetime.datetime, out: bytearray) -> None:
    # Of the two that are one hour of a clock's change apart, Python says that they are equal.
    aware = key.utcoffset() is not None
    moment = (key.astimezone(_UTC) if aware else key).replace(tzinfo=None, fold=0)
    _text(b"a" if aware else b"l", moment.isoformat(), out)


def _unordered(tag: bytes, elements: Any, out: bytearray) -> None:
    parts = []
    for element in elements:
        part = bytearray()
        encode_key(element, part)
        parts.append(bytes(part))
    out += tag
    out += _size(len(parts))
    for one in sorted(parts):
        out += one


def _path(tag: bytes, thing: Any, out: bytearray) -> None:
    _text(tag, f"{thing.__module__}:{thing.__qualname__}", out)


def _object(key: Any, out: bytearray) -> None:
    """An object by its parts. (Pickle's own bytes will not do: they depend on which parts are one object.)"""
    if isinstance(key, list):
        out += b"L"
        encode_key(tuple(key), out)
        return
    if isinstance(key, dict):
        _unordered(b"D", key.items(), out)
        return
    if isinstance(key, set | bytearray):
        encode_key((type(key).__name__, frozenset(key) if isinstance(key, set) else bytes(key)), out)
        return
    try:
        reduced = key.__reduce_ex__(4)
    except Exception as error:
        raise InvalidKeyError(
            f"the key {key!r} cannot be taken apart, as keys on disk must be: {type(error).__name__}: {error}"
        ) from None
    if isinstance(reduced, str):
        _text(b"G", f"{type(key).__module__}:{reduced}", out)
        return
    call, arguments, *more = reduced
    _path(b"O", call, out)
    encode_key(tuple(arguments), out)
    for part in more:
        encode_key(part if part is None or not hasattr(part, "__next__") else tuple(part), out)
    out += b"."
