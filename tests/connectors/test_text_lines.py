from __future__ import annotations

import io
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spry.connectors.static_splits import even_ranges
from spry.connectors.text_lines import LineReader, TextEncoding

UTF_8 = TextEncoding.of("UTF-8")


def expected(text: str) -> list[str]:
    """Lines, in the slow and obvious way."""
    lines = re.split("\r?\n", text)
    return lines[:-1] if not lines[-1] else lines


def reader(
    data: bytes,
    encoding: TextEncoding = UTF_8,
    start: int = 0,
    end: int | None = None,
    position: int | None = None,
    chunk_size: int = 7,
) -> LineReader:
    return LineReader(io.BytesIO(data), "file.txt", encoding, start, end, position, chunk_size)


def read_all(lines: LineReader, at_once: int = 1000) -> list[str]:
    found: list[str] = []
    while batch := lines.read(at_once):
        assert len(batch) <= at_once
        found.extend(batch)
    assert not lines.read(1)
    return found


texts = st.lists(
    st.one_of(
        st.sampled_from(["\n", "\r\n", "\r", "\n\n", "", "a", "\ufeff", "€uro", "𝄞", "\x85\u2028\x0b", "ਊ਍"]),
        st.text(),
    ),
    max_size=12,
).map("".join)


@settings(max_examples=400, deadline=None)
@given(
    texts,
    st.sampled_from(["UTF-8", "UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE", "UTF-16", "GB18030", "utf-8-sig"]),
    st.integers(1, 40),
    st.integers(1, 30),
    st.integers(1, 5),
)
@example("a\r\nb", "UTF-8", 2, 1, 1)
@example("\n\n\n", "UTF-16BE", 3, 1, 1)
def test_ranges_have_every_line_once(text: str, charset: str, parts: int, chunk_size: int, at_once: int) -> None:
    data = text.encode(charset, errors="replace")
    text = data.decode(charset)
    if charset.startswith(("UTF-8", "UTF-16", "UTF-32")) and charset != "UTF-16":
        text = text.removeprefix("\ufeff")
    encoding = TextEncoding.of(charset)
    lines: list[str] = []
    for part in even_ranges(range(len(data)), parts):
        lines += read_all(reader(data, encoding, part.start, part.stop, chunk_size=chunk_size), at_once)
    assert lines == expected(text)


@settings(max_examples=300, deadline=None)
@given(
    texts,
    st.sampled_from(["UTF-8", "UTF-16LE", "UTF-16"]),
    st.integers(1, 9),
    st.integers(1, 30),
    st.integers(1, 4),
    st.integers(0, 6),
)
def test_another_reader_goes_on_at_the_position(
    text: str, charset: str, parts: int, chunk_size: int, at_once: int, reads: int
) -> None:
    data = text.replace("\ufeff", "").encode(charset, errors="replace")
    encoding = TextEncoding.of(charset)
    lines: list[str] = []
    for part in even_ranges(range(len(data)), parts):
        first = reader(data, encoding, part.start, part.stop, chunk_size=chunk_size)
        for _ in range(reads):
            lines += first.read(at_once)
        position = first.position()
        # How large its chunks are makes no difference.
        lines += read_all(reader(data, encoding, part.start, part.stop, position, 1000), at_once)
    assert lines == expected(data.decode(charset))


@pytest.mark.parametrize("chunk_size", [1, 2, 3, 5, 1000])
def test_positions_are_starts_of_lines(chunk_size: int) -> None:
    lines = reader("ä\r\n\nbc\n€".encode(), chunk_size=chunk_size)
    positions = [lines.position()]
    while lines.read(1):
        positions.append(lines.position())
    assert positions == [0, 4, 5, 8, 11]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\rb\n", ["a\rb"]),
        ("a\r\r\nb\r", ["a\r", "b\r"]),
        ("a\x0b\x0c\x1c\x85\u2028b\n", ["a\x0b\x0c\x1c\x85\u2028b"]),
    ],
)
def test_what_a_line_is(text: str, lines: list[str]) -> None:
    assert read_all(reader(text.encode())) == lines


@pytest.mark.parametrize("charset", ["UTF-8", "utf-8-sig", "UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE"])
def test_a_mark_of_byte_order_is_no_text(charset: str) -> None:
    codec = {"UTF-16": "utf-16-le", "UTF-32": "utf-32-le", "utf-8-sig": "utf-8"}.get(charset, charset)
    data = "\ufeffa\n\ufeffb\n".encode(codec)
    assert read_all(reader(data, TextEncoding.of(charset))) == ["a", "\ufeffb"]
    middle = len("\ufeffa\n".encode(codec))
    assert read_all(reader(data, TextEncoding.of(charset), position=middle)) == ["\ufeffb"]
    assert read_all(reader(data, TextEncoding.of(charset), start=middle - 1)) == ["\ufeffb"]


def test_without_a_mark_the_big_end_is_first() -> None:
    assert read_all(reader("a\nb".encode("utf-16-be"), TextEncoding.of("UTF-16"))) == ["a", "b"]


@pytest.mark.parametrize(
    "charset", ["ISO-8859-1", "windows-1252", "Shift_JIS", "GBK", "EUC-KR", "cp037", "ISO-2022-JP"]
)
def test_other_charsets(charset: str) -> None:
    text = {
        "Shift_JIS": "表\nソ\n",
        "GBK": "中文\n字\n",
        "EUC-KR": "한\n글\n",
        "ISO-2022-JP": "表\nソ\n",
    }.get(charset, "é\nü\n")
    for chunk_size in (1, 3, 100):
        assert read_all(reader(text.encode(charset), TextEncoding.of(charset), chunk_size=chunk_size)) == text.split()


@pytest.mark.parametrize("charset", ["UTF-9", "", "rot13", "base64", "no\0name"])
def test_no_charset(charset: str) -> None:
    with pytest.raises(ValueError, match="there is no charset"):
        TextEncoding.of(charset)


@pytest.mark.parametrize("charset", ["utf-7", "idna", "punycode", "unicode_escape", "hz"])
def test_charsets_without_lines(charset: str) -> None:
    with pytest.raises(ValueError, match="cannot be read line by line"):
        TextEncoding.of(charset)


@pytest.mark.parametrize("chunk_size", [1, 4, 1000])
def test_wrong_bytes_are_named_with_their_place(chunk_size: int) -> None:
    lines = reader(b"good\nal\xffso\n", chunk_size=chunk_size)
    with pytest.raises(UnicodeError, match=r"file\.txt: the bytes b'\\xff' at byte 7 are not UTF-8"):
        read_all(lines)


def test_a_line_longer_than_ranges_is_read_once_and_skipped_quickly() -> None:
    data = b"x" * 10_000 + b"\nlast\n"
    counts = []

    class Counting(io.BytesIO):
        read_bytes = 0

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            Counting.read_bytes += len(data)
            return data

    found: list[str] = []
    for part in even_ranges(range(len(data)), 100):
        Counting.read_bytes = 0
        found += read_all(LineReader(Counting(data), "f", UTF_8, part.start, part.stop, None, 50))
        counts.append(Counting.read_bytes)
    assert found == ["x" * 10_000, "last"]
    assert sum(counts[1:-2]) < 3 * len(data)


def test_a_stream_that_gives_little_at_once() -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(1)

    for charset in ("UTF-8", "UTF-16", "UTF-32LE"):
        data = "äb\n€\n\nlast".encode(charset)
        lines = LineReader(Slow(data), "f", TextEncoding.of(charset))
        assert read_all(lines) == ["äb", "€", "", "last"]
