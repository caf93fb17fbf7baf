from __future__ import annotations

import copy
import datetime
import pickle
from enum import Enum
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spry.common.config_options import (
    ConfigOption,
    ConfigOptions,
    ConfigurationError,
    format_value,
    parse_duration,
    parse_list,
    parse_map,
    parse_memory_size,
)
from spry.common.configuration import Configuration
from spry.common.time import Duration


class Mode(Enum):
    FAST = "fast"
    VERY_SAFE = "very-safe"


INT = ConfigOptions.key("a.int").int_type().default_value(3)
DURATION = ConfigOptions.key("a.duration").duration_type().default_value(Duration.of_seconds(1))
ENUM = ConfigOptions.key("a.mode").enum_type(Mode).default_value(Mode.FAST)
LIST = ConfigOptions.key("a.list").list_type().no_default_value()
MAP = ConfigOptions.key("a.map").map_type().no_default_value()


def sample() -> Configuration:
    config = Configuration()
    config.set_string("s", "x").set_integer("i", 5).set_boolean("b", True).set_float("f", 1.5)
    return config


def test_values_can_be_read_as_texts() -> None:
    config = sample()
    assert config.to_dict() == {"s": "x", "i": "5", "b": "true", "f": "1.5"}
    assert config.get_string("i", "d") == "5"
    assert config.get_string("b", "d") == "true"
    assert str(config) == "{b=true, f=1.5, i=5, s=x}"


def test_texts_can_be_read_as_values() -> None:
    config = Configuration.from_dict({"i": "7", "b": "TRUE", "f": "2"})
    assert config.get_integer("i", 0) == 7
    assert config.get_boolean("b", False) is True
    assert config.get_float("f", 0.0) == 2.0
    assert config.get_float("i", 0.0) == 7.0


def test_defaults() -> None:
    config = Configuration()
    assert config.get_string("x", "d") == "d"
    assert config.get_string("x", None) is None
    assert config.get_integer("x", 3) == 3
    assert config.get_boolean("x", True) is True
    assert config.get_float("x", None) is None
    assert config.get_bytearray("x", bytearray(b"q")) == b"q"


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda c: c.get_integer("s", 1), "'x' of option 's' is not valid: it must be a whole number"),
        (lambda c: c.get_integer("b", 1), "'true' of option 'b'"),
        (lambda c: c.get_integer("f", 1), "'1.5' of option 'f'"),
        (lambda c: c.get_boolean("s", True), "'x' of option 's' is not valid: it must be true or false"),
        (lambda c: c.get_boolean("i", True), "'5' of option 'i'"),
        (lambda c: c.get_float("s", 1.0), "it must be a decimal number"),
        (lambda c: c.get_bytearray("s", bytearray()), "it must be bytes"),
    ],
)
def test_values_that_do_not_parse(read: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        read(sample())


def test_setters_take_their_types_only() -> None:
    config: Any = Configuration()
    for call in (
        lambda: config.set_string("x", 1),
        lambda: config.set_string("x", None),
        lambda: config.set_string(None, "x"),
        lambda: config.set_string("", "x"),
        lambda: config.set_integer("x", "1"),
        lambda: config.set_integer("x", True),
        lambda: config.set_boolean("x", 1),
        lambda: config.set_float("x", "1"),
        lambda: config.set_bytearray("x", "1"),
    ):
        with pytest.raises(TypeError):
            call()
    assert config.key_set() == set()
    assert config.set_float("x", 1).to_dict() == {"x": "1.0"}


def test_bytes() -> None:
    config = Configuration().set_bytearray("k", bytearray(b"abc"))
    assert config.get_bytearray("k", bytearray()) == bytearray(b"abc")
    assert isinstance(config.get_bytearray("k", bytearray()), bytearray)


def test_copies_are_independent_and_equal() -> None:
    config = sample()
    for other in (
        Configuration(config),
        copy.copy(config),
        copy.deepcopy(config),
        pickle.loads(pickle.dumps(config)),
    ):
        assert other == config
        assert hash(other) == hash(config)
        other.set_string("s", "y")
        assert other != config
    assert config.get_string("s", "") == "x"


def test_add_and_remove() -> None:
    config = sample()
    config.add_all(Configuration.from_dict({"z": "1"}), "pre.")
    assert config.get_string("pre.z", "") == "1"
    assert config.contains_key("pre.z") and not config.contains_key("z")
    assert config.remove_config("s") is True
    assert config.remove_config("s") is False
    assert config.key_set() == {"i", "b", "f", "pre.z"}
    target: dict[str, Any] = {"old": 1}
    config.add_all_to_dict(target)
    assert target == {"old": 1, "i": 5, "b": True, "f": 1.5, "pre.z": "1"}


@pytest.mark.parametrize(("text", "elements"), [("a;b;c", ["a", "b", "c"]), ("[a, 1]", ["a", "1"]), ("", [])])
def test_parse_list_value(text: str, elements: list[str]) -> None:
    assert Configuration.parse_list_value(text) == elements


def test_typed_options() -> None:
    config = Configuration()
    assert config.get(INT) == 3
    assert config.get(INT, 9) == 9
    assert config.get_optional(INT) is None
    assert config.get(LIST) is None
    config.set(INT, 4).set(DURATION, "2 min").set(ENUM, "VERY_SAFE").set(LIST, ["a", "b"]).set(MAP, {"k": "v"})
    assert config.get(INT) == 4
    assert config.get(DURATION) == Duration.of_minutes(2)
    assert config.get(ENUM) is Mode.VERY_SAFE
    assert config.get(LIST) == ["a", "b"]
    assert config.get(MAP) == {"k": "v"}
    assert config.to_dict() == {
        "a.int": "4",
        "a.duration": "120000 ms",
        "a.mode": "very-safe",
        "a.list": "a;b",
        "a.map": "k:v",
    }
    assert config.contains(INT) and config.remove(INT) and not config.contains(INT)
    with pytest.raises(ConfigurationError, match=r"'a\.int'"):
        config.set(INT, "many")


def test_older_names_of_a_key() -> None:
    option = INT.with_fallback_keys("old.int")
    config = Configuration().set_string("old.int", "8")
    assert config.get(option) == 8
    assert config.contains(option)
    with pytest.raises(ConfigurationError, match=r"'old\.int'"):
        Configuration().set_string("old.int", "x").get(option)
    config.set(option, 9)
    assert config.to_dict() == {"a.int": "9"}
    assert config.remove(option) and not config.remove(option)


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("5", 5_000_000),
        ("5 ms", 5_000_000),
        ("100ms", 100_000_000),
        (" 10 s ", 10_000_000_000),
        ("1min", 60_000_000_000),
        ("2 h", 7_200_000_000_000),
        ("1 d", 86_400_000_000_000),
        ("3 MINUTES", 180_000_000_000),
        ("7 \u00b5s", 7_000),
        ("9 nanos", 9),
    ],
)
def test_durations(text: str, nanos: int) -> None:
    assert parse_duration(text) == Duration(nanos)


@pytest.mark.parametrize("text", ["", "s", "-1 s", "1.5 s", "1 parsec", "1 s 2 ms", "\u0663 s"])
def test_no_durations(text: str) -> None:
    with pytest.raises(ConfigurationError, match="duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("7", 7), ("7 b", 7), ("2k", 2048), ("64 mb", 64 << 20), ("1 GB", 1 << 30), ("1t", 1 << 40)],
)
def test_memory_sizes(text: str, size: int) -> None:
    assert parse_memory_size(text) == size


@pytest.mark.parametrize("text", ["", "mb", "-1", "1.5 gb", "1 mbit"])
def test_no_memory_sizes(text: str) -> None:
    with pytest.raises(ConfigurationError, match="memory size"):
        parse_memory_size(text)


def test_lists() -> None:
    assert parse_list("a; b ;") == ["a", "b"]
    assert parse_list("'a;b';\"it's\";'it''s'") == ["a;b", "it's", "it's"]
    assert parse_list("a,b", ",") == ["a", "b"]
    with pytest.raises(ConfigurationError, match="not closed"):
        parse_list("'a;b")


def test_maps() -> None:
    assert parse_map("a:1, b:x:y") == {"a": "1", "b": "x:y"}
    assert parse_map("a:'1,2','b:3,4'") == {"a": "1,2", "b": "3,4"}
    assert parse_map("{a: 1, b: true}") == {"a": "1", "b": "true"}
    assert parse_map("") == {}
    for text in ("a", "a:'1", "{a"):
        with pytest.raises(ConfigurationError, match="key1:value1"):
            parse_map(text)


@given(st.lists(st.text(min_size=1)))
def test_what_is_written_as_a_list_is_read_as_it(elements: list[str]) -> None:
    assert LIST.parse(format_value(elements)) == elements


@given(st.dictionaries(st.text("abc.", min_size=1), st.text()))
@example({"a": "0''", "b": '"'})
def test_what_is_written_as_a_map_is_read_as_it(pairs: dict[str, str]) -> None:
    assert MAP.parse(format_value(pairs)) == pairs


@given(st.integers(0, 2**62))
def test_what_is_written_as_a_duration_is_read_as_it(nanos: int) -> None:
    assert DURATION.parse(format_value(Duration(nanos))) == Duration(nanos)


def _option(key: str = "k") -> Any:
    return ConfigOptions.key(key)


@pytest.mark.parametrize(
    ("option", "raw", "value"),
    [
        (_option().boolean_type().no_default_value(), "False", False),
        (_option().boolean_type().no_default_value(), True, True),
        (_option().long_type().no_default_value(), str(2**40), 2**40),
        (_option().float_type().no_default_value(), "1e3", 1000.0),
        (_option().double_type().no_default_value(), 2, 2.0),
        (_option().string_type().no_default_value(), 2, "2"),
        (_option().duration_type().no_default_value(), datetime.timedelta(days=1, microseconds=1), None),
        (_option().duration_type().no_default_value(), 5, Duration.of_millis(5)),
        (_option().memory_type().no_default_value(), "1 kb", 1024),
        (_option().memory_type().no_default_value(), 5, 5),
        (_option().enum_type(Mode).no_default_value(), "Very-Safe", Mode.VERY_SAFE),
        (_option().enum_type(Mode).no_default_value(), Mode.FAST, Mode.FAST),
        (_option().list_type().no_default_value(), (1, "b"), ["1", "b"]),
        (_option().map_type().no_default_value(), {"a": 1}, {"a": "1"}),
    ],
)
def test_parse(option: ConfigOption[Any], raw: Any, value: Any) -> None:
    expected = Duration(86_400_000_001_000) if value is None else value
    parsed = option.parse(raw)
    assert parsed == expected
    assert type(parsed) is type(expected)


@pytest.mark.parametrize(
    ("option", "raw", "expected"),
    [
        (_option().boolean_type().no_default_value(), "yes", "true or false"),
        (_option().boolean_type().no_default_value(), 1, "true or false"),
        (_option().int_type().no_default_value(), str(2**31), "a whole number of 32 bits"),
        (_option().int_type().no_default_value(), True, "a whole number of 32 bits"),
        (_option().int_type().no_default_value(), 1.0, "a whole number of 32 bits"),
        (_option().double_type().no_default_value(), "x", "a decimal number"),
        (_option().double_type().no_default_value(), False, "a decimal number"),
        (_option().duration_type().no_default_value(), "x", "a duration such as"),
        (_option().duration_type().no_default_value(), 1.5, "a duration such as"),
        (_option().memory_type().no_default_value(), "64 apples", "a memory size such as"),
        (_option().enum_type(Mode).no_default_value(), "slow", "one of fast, very-safe"),
        (_option().list_type(",").no_default_value(), {"a": 1}, "a list such as 'a,b,c'"),
        (_option().map_type().no_default_value(), "a", "pairs such as"),
        (_option().int_type().no_default_value().with_minimum(1), "0", "32 bits, at least 1"),
        (_option().duration_type().no_default_value().with_minimum(10), "9 ms", "at least 10 ms"),
    ],
)
def test_parse_refuses(option: ConfigOption[Any], raw: Any, expected: str) -> None:
    with pytest.raises(ConfigurationError, match="of option 'k' is not valid: it must be ") as caught:
        option.parse(raw)
    assert expected in str(caught.value)
    assert (raw if isinstance(raw, str) else format_value(raw)) in str(caught.value)


def test_defaults_are_checked() -> None:
    assert ConfigOptions.key("k").duration_type().default_value("1 s").default == Duration.of_seconds(1)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="'k'"):
        ConfigOptions.key("k").int_type().default_value("x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="empty"):
        ConfigOptions.key("")
