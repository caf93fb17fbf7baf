"""Inlined functions give what calling them gives; what is not understood is called."""

from __future__ import annotations

import operator
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spry.common.errors import JobExecutionError
from spry.common.operators import FilterOperator, MapOperator
from spry.runtime.inlining import inline_expression
from spry.runtime.testing import OperatorHarness

Pair = namedtuple("Pair", "a b")
_GLOBAL = 5


def add(x: Any) -> Any:
    """Has a docstring."""
    return x + 1


def picks(r: Any) -> Any:
    return r[0]


NUMERIC: list[Callable[[Any], Any]] = [
    lambda x: x,
    lambda x: x + 1,
    lambda x: 1 - x,
    lambda x: x - -1,
    lambda x: x * -2.5,
    lambda x: x * x + x,
    lambda x: (x + 1) * (x - 1),
    lambda x: x - (1 - x),
    lambda x: x / 7,
    lambda x: x // 7,
    lambda x: x % 7,
    lambda x: -x % 7,
    lambda x: -(x % 7),
    lambda x: x**2,
    lambda x: (-x) ** 2,
    lambda x: -(x**2),
    lambda x: 2 ** (x % 5),
    lambda x: ~x,
    lambda x: x & 255,
    lambda x: x | 3,
    lambda x: x ^ 85,
    lambda x: x << 2,
    lambda x: x >> 1,
    lambda x: x < 3,
    lambda x: x <= 3,
    lambda x: x == 3,
    lambda x: x != 3,
    lambda x: x > 3,
    lambda x: x >= 3,
    lambda x: not x,
    lambda x: not x > 3,
    lambda x: (x > 3) == (x < 10),
    lambda x: x in (1, 2, 3),
    lambda x: x not in (1, 2, 3),
    lambda x: x is None,
    lambda x: x is not None,
    lambda x: (x, x + 1),
    lambda x: (x,),
    lambda x: ((x, 1), "a"),
    lambda x: [x, x],
    lambda x: [],
    lambda x: (x, (), [], (1, (2,)), None, True, b"b", 1.5),
    lambda x: (1, 2, "a'b\n")[x % 3],
    lambda x: "const",
    lambda x: None,
    lambda x: x.real,
    lambda x: (x.numerator, x.denominator),
    lambda x: (1).real + x,
    lambda x: (1.5).real + x,
    lambda x: (-1).real + x,
    add,
]

STRUCTURED: list[Callable[[Any], Any]] = [
    picks,
    lambda r: r[1],
    lambda r: r[-1],
    lambda r: (r[1], r[0]),
    lambda r: r[0] + r[1],
    lambda r: r.a * r.b,
    lambda r: r[r[0] % 2],
    lambda r: r.a in r,
    lambda r: r[0] == "a",
    lambda r: r[0] is r.a,
]


@pytest.mark.parametrize("number", range(len(NUMERIC)))
@given(x=st.integers(-1000, 1000))
def test_numbers(number: int, x: int) -> None:
    check(NUMERIC[number], x)


@pytest.mark.parametrize("number", range(len(STRUCTURED)))
@given(a=st.integers(), b=st.integers())
def test_structures(number: int, a: int, b: int) -> None:
    check(STRUCTURED[number], Pair(a, b))


def check(function: Callable[[Any], Any], value: Any) -> None:
    text = inline_expression(function, "v7")
    assert text is not None, "is one of the supported"
    result = eval(text, {"v7": value})
    expected = function(value)
    assert result == expected
    assert type(result) is type(expected)
    # It must also hold its place within a larger expression and as the target of an index or attribute.
    assert eval(f"[{text}, 1][0]", {"v7": value}) == expected
    assert eval(f"(lambda *a: a)({text})", {"v7": value}) == (expected,)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "%": operator.mod,
    "//": operator.floordiv,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
EXPRESSIONS = st.recursive(
    st.just("x") | st.integers(-20, 20).map(str),
    lambda inner: (
        st.tuples(inner, st.sampled_from([*OPERATORS, "<", "==", ">="]), inner).map(
            lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
        )
        | inner.map(lambda part: f"(-{part})")
        | inner.map(lambda part: f"(not {part})")
        | st.tuples(inner, inner).map(lambda parts: f"({parts[0]}, {parts[1]})[0]")
        | inner.map(lambda part: f"{part}.real")
    ),
    max_leaves=6,
)


@given(EXPRESSIONS, st.integers(-50, 50))
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_random_expressions(text: str, x: int) -> None:
    try:
        function = eval(f"lambda x: {text}")
    except SyntaxError:
        return  # 1.real
    inlined = inline_expression(function, "v")
    if inlined is None:
        return
    assert outcome(lambda: eval(inlined, {"v": x})) == outcome(lambda: function(x))


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def with_statement(x: Any) -> Any:
    y = x + 1
    return y


def generator(x: Any) -> Any:
    yield x


def branches(x: Any) -> Any:
    if x:
        return 1
    return 2


def drops(x: Any) -> Any:
    x[0]


def reassigns(x: Any) -> Any:
    x += 1
    return x


async def coroutine(x: Any) -> Any:
    return x


def closure(n: int) -> Callable[[Any], Any]:
    return lambda x: x + n


class Callable_:
    def __call__(self, x: Any) -> Any:
        return x

    def method(self, x: Any) -> Any:
        return x


NOT_UNDERSTOOD: list[Any] = [
    lambda x: x + _GLOBAL,
    lambda x: len(x),
    lambda x: x.upper(),
    lambda x: x if x else 1,
    lambda x: x and 1,
    lambda x: 1 < x < 3,
    lambda x: f"{x}",
    lambda x: [y + 1 for y in x],
    lambda x: {"a": x},
    lambda x: {x},
    lambda x: x[1:2],
    lambda x: x in {1, 2},
    lambda x: (y := x) + y,
    lambda x, y=1: x,
    lambda *x: x,
    lambda **x: x,
    lambda: 1,
    lambda x, y: x,
    lambda x: lambda: x,
    lambda x: 1e999,
    lambda x: (*x, 1),
    lambda x: "a" * 300 + x + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" + ("b" * 90),
    closure(1),
    with_statement,
    generator,
    branches,
    drops,
    reassigns,
    coroutine,
    Callable_(),
    Callable_().method,
    len,
    str,
    operator.itemgetter(0),
]


@pytest.mark.parametrize("number", range(len(NOT_UNDERSTOOD)))
def test_what_is_not_understood_is_called(number: int) -> None:
    assert inline_expression(NOT_UNDERSTOOD[number], "v") is None


class Mangled:
    function = staticmethod(lambda x: x.__secret)


def test_mangled_attributes() -> None:
    class Holder:
        _Mangled__secret = 3

    text = inline_expression(Mangled.function, "v")
    assert text is None or eval(text, {"v": Holder()}) == 3


# In a chain


def fails(x: Any) -> Any:
    return x[0] / x[1]


@pytest.mark.parametrize("description", [MapOperator, FilterOperator])
def test_an_inlined_function_that_fails_gives_the_users_traceback_and_record(description: Any) -> None:
    assert inline_expression(fails, "v") is not None
    harness = OperatorHarness([MapOperator(lambda x: (x, x - 3)), description(fails)], names=["pairs", "fails"])
    with pytest.raises(JobExecutionError) as caught:
        harness.push(1, 2, 3)
    failure = caught.value.failure
    assert failure.summary == "ZeroDivisionError: division by zero"
    assert (failure.operator, failure.record) == ("fails", "(3, 0)")
    assert "return x[0] / x[1]" in failure.traceback
    assert "<spry" not in failure.traceback
    assert "spry/runtime" not in failure.traceback


class Flaky:
    """A record whose attribute fails once."""

    failures = 1

    @property
    def size(self) -> int:
        if Flaky.failures:
            Flaky.failures -= 1
            raise ValueError("once")
        return 3


def test_an_error_that_does_not_come_again_is_still_an_error() -> None:
    Flaky.failures = 1
    harness = OperatorHarness(MapOperator(lambda r: r.size))
    with pytest.raises(JobExecutionError, match="ValueError: once"):
        harness.push(Flaky())
