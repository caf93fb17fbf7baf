from __future__ import annotations

import pickle
from io import BytesIO
from typing import Any

import pytest

from spry.common.serialization import (
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    RowFieldExtractorSchema,
    SimpleStringSchema,
)
from spry.common.serializer import TypeSerializer, VoidNamespaceSerializer, void
from spry.common.typeinfo import Types
from spry.common.types import Row


@pytest.mark.parametrize(("charset", "data"), [("UTF-8", b"\xc3\xa9"), ("latin-1", b"\xe9")])
def test_strings(charset: str, data: bytes) -> None:
    schema = pickle.loads(pickle.dumps(SimpleStringSchema(charset)))
    schema.open()
    assert schema.serialize("\u00e9") == data
    assert schema.deserialize(data) == "\u00e9"
    assert schema.get_produced_type() == Types.STRING()
    assert not schema.is_end_of_stream("x")


def test_mistakes_with_strings() -> None:
    with pytest.raises(ValueError, match="there is no charset 'utf-99'"):
        SimpleStringSchema("utf-99")
    with pytest.raises(TypeError, match=r"SimpleStringSchema takes strings, got 1 \(int\)"):
        SimpleStringSchema().serialize(1)  # type: ignore[arg-type]


def test_bytes() -> None:
    schema = ByteArraySchema()
    assert schema.serialize(b"x") == schema.deserialize(b"x") == b"x"
    assert type(schema.serialize(bytearray(b"x"))) is bytes
    assert schema.get_produced_type() == Types.PRIMITIVE_ARRAY(Types.BYTE())
    with pytest.raises(TypeError, match="got 'x'"):
        schema.serialize("x")  # type: ignore[arg-type]


def test_the_type_of_other_schemas() -> None:
    class Numbers(DeserializationSchema[int]):
        def deserialize(self, message: bytes) -> int | None:
            return int(message) if message else None

    assert Numbers().deserialize(b"7") == 7
    assert Numbers().get_produced_type() == Types.PICKLED_BYTE_ARRAY()


def test_fields_of_rows() -> None:
    schema = RowFieldExtractorSchema(1)
    assert schema.serialize(Row(1, "\u00e9")) == b"\xc3\xa9"
    assert schema.serialize((1, bytearray(b"x"))) == b"x"
    assert schema.serialize(Row(1, None)) == b""
    with pytest.raises(TypeError, match="field 1 must be bytes or a string, got 2"):
        schema.serialize(Row(1, 2))
    with pytest.raises(ValueError, match="field_index"):
        RowFieldExtractorSchema(-1)


def test_encoder() -> None:
    stream = BytesIO()
    encoder: Encoder[Any] = pickle.loads(pickle.dumps(Encoder.simple_string_encoder("latin-1")))
    encoder.encode("\u00e9", stream)
    encoder.encode((1, 2), stream)
    assert stream.getvalue() == b"\xe9\n(1, 2)\n"
    with pytest.raises(ValueError, match="charset"):
        Encoder.simple_string_encoder("x")


class LongSerializer(TypeSerializer[int]):
    def __init__(self, size: int) -> None:
        self.size = size

    def serialize(self, element: int, stream: BytesIO) -> None:
        stream.write(element.to_bytes(self.size, "big"))

    def deserialize(self, stream: BytesIO) -> int:
        return int.from_bytes(stream.read(self.size), "big")


def test_serializers() -> None:
    stream = BytesIO()
    LongSerializer(8).serialize(7, stream)
    VoidNamespaceSerializer().serialize(void, stream)
    assert stream.tell() == 8
    stream.seek(0)
    assert VoidNamespaceSerializer().deserialize(stream) == void
    assert LongSerializer(8).deserialize(stream) == 7
    assert LongSerializer(8) == LongSerializer(8) != LongSerializer(4)
    assert len({LongSerializer(8), LongSerializer(8)}) == 1
    assert LongSerializer(8) != VoidNamespaceSerializer()
    assert repr(VoidNamespaceSerializer()) == "VoidNamespaceSerializer()"
