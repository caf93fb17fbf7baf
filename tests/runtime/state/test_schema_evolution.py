"""State whose classes, types or descriptors have changed between a checkpoint and the job that goes on from it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

from spry.common import Row, Time, Types
from spry.common.errors import CheckpointError, JobExecutionError, StateMigrationError
from spry.datastream import CheckpointedFunction, KeyedProcessFunction, MapFunction
from spry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from spry.runtime.state.schema import StateEncoder, check_classes, decode_state
from spry.runtime.testing import HarnessSnapshot, OperatorHarness
from tests.runtime.windows.programs import Numbers


class Classes:
    """A module ``evolving`` whose contents change."""

    def define(self, source: str) -> ModuleType:
        module = ModuleType("evolving")
        sys.modules["evolving"] = module
        exec(dedent(source), module.__dict__)
        return module

    def become(self, before: str, value: str, after: str) -> Any:
        """A value of the module as it was, read by the module as it is."""
        encoder = StateEncoder()
        payload = encoder.encode(eval(value, self.define(before).__dict__))
        self.define(after)
        check_classes("here", encoder.classes)
        return decode_state(payload)


@pytest.fixture
def classes() -> Iterator[Classes]:
    yield Classes()
    sys.modules.pop("evolving", None)


DATACLASS = "from dataclasses import dataclass, field\n"
NAMED_TUPLE = "from typing import NamedTuple\n"


@pytest.mark.parametrize(
    "options", ["", "(slots=True)", "(frozen=True)", "(frozen=True, slots=True)", "(kw_only=True)"]
)
def test_fields_of_dataclasses_come_and_go(classes: Classes, options: str) -> None:
    before = (
        f"{DATACLASS}@dataclass{options}\nclass P:\n    a: int\n    b: str\n    c: list = field(default_factory=list)"
    )
    after = (
        f"{DATACLASS}@dataclass{options}\nclass P:\n    c: list\n    b: str\n    d: int = 7\n"
        "    e: dict = field(default_factory=dict)"
    )
    found = classes.become(before, "P(a=1, b='x', c=[2])", after)
    assert (found.b, found.c, found.d, found.e) == ("x", [2], 7, {})
    assert not hasattr(found, "a")
    again = classes.become(before, "P(a=1, b='x')", before)
    assert (again.a, again.b, again.c) == (1, "x", [])
    assert type(again) is sys.modules["evolving"].P


def test_dataclasses_within_others(classes: Classes) -> None:
    before = f"""
    {DATACLASS.strip()}
    @dataclass
    class Inner:
        x: int
    @dataclass
    class Outer:
        inner: Inner
        many: list
    """
    after = before.replace("x: int", "x: int\n        y: int = 5")
    found = classes.become(before, "Outer(Inner(1), [Inner(2), {'k': Inner(3)}])", after)
    assert (found.inner.x, found.inner.y) == (1, 5)
    assert [found.many[0].y, found.many[1]["k"].x] == [5, 3]


def test_what_is_no_field_stays(classes: Classes) -> None:
    head = f"{DATACLASS}@dataclass\nclass P:\n    a: int\n"
    source = f"{head}    def marked(self):\n        self.mark = 1\n        return self"
    assert classes.become(source, "P(1).marked()", source).mark == 1
    after = source.replace("a: int", "a: int\n    b: int = 2")
    found = classes.become(source, "P(1).marked()", after)
    assert (found.a, found.b, found.mark) == (1, 2, 1)


def test_objects_that_are_shared_are_shared_again(classes: Classes) -> None:
    source = f"{DATACLASS}@dataclass\nclass P:\n    a: list"
    one, other = classes.become(source, "(lambda p: [p, p])(P([1]))", source)
    assert one is other
    looped = classes.become(source, "(lambda p: (p.a.append(p), p)[1])(P([]))", source)
    assert looped.a[0] is looped


def test_inherited_fields(classes: Classes) -> None:
    before = f"{DATACLASS}@dataclass\nclass A:\n    a: int\n@dataclass\nclass B(A):\n    b: int"
    after = f"{DATACLASS}@dataclass\nclass A:\n    a: int\n    z: int = 9\n@dataclass\nclass B(A):\n    b: int = 0"
    found = classes.become(before, "B(1, 2)", after)
    assert (found.a, found.b, found.z) == (1, 2, 9)


def test_fields_of_named_tuples_come_and_go(classes: Classes) -> None:
    before = f"{NAMED_TUPLE}class P(NamedTuple):\n    a: int\n    b: str"
    after = f"{NAMED_TUPLE}class P(NamedTuple):\n    b: str\n    c: int = 3"
    assert classes.become(before, "P(1, 'x')", after) == ("x", 3)
    assert classes.become(before, "P(1, 'x')", before)._fields == ("a", "b")
    assert classes.become(before, "[P(1, 'x')]", after + "\n    d: int = 4") == [("x", 3, 4)]
    plain = "from collections import namedtuple\nP = namedtuple('P', 'a b')"
    assert classes.become(plain, "P(1, 2)", plain.replace("a b", "b a"))._asdict() == {"b": 2, "a": 1}


@pytest.mark.parametrize("kind", ["dataclass", "named tuple"])
def test_a_new_field_needs_a_default(classes: Classes, kind: str) -> None:
    head = f"{DATACLASS}@dataclass\nclass P:" if kind == "dataclass" else f"{NAMED_TUPLE}class P(NamedTuple):"
    with pytest.raises(StateMigrationError, match=r"class P has a new field 'b' .* give the field a default"):
        classes.become(f"{head}\n    a: int", "P(1)", f"{head}\n    a: int\n    b: int")


@pytest.mark.parametrize("kind", ["dataclass", "named tuple"])
@pytest.mark.parametrize(
    ("before", "after"), [("int", "str"), ("list[int]", "list[str]"), ("int", "int | None"), ("'list'", "dict")]
)
def test_a_field_must_keep_its_type(classes: Classes, kind: str, before: str, after: str) -> None:
    head = f"{DATACLASS}@dataclass\nclass P:" if kind == "dataclass" else f"{NAMED_TUPLE}class P(NamedTuple):"
    with pytest.raises(StateMigrationError, match=r"here: field 'a' of class P was .* in the checkpoint and is .* now"):
        classes.become(f"{head}\n    a: {before}", "P(1)", f"{head}\n    a: {after}")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("int", "'int'"),
        ("typing.Optional[int]", "'Optional[int]'"),
        ("dict[str,int]", "'dict[str, int]'"),
        ("list['int']", "list[int]"),
    ],
)
def test_annotations_may_be_written_in_another_way(classes: Classes, before: str, after: str) -> None:
    head = f"import typing\nfrom typing import Optional\n{DATACLASS}@dataclass\nclass P:\n    a: "
    assert classes.become(head + before, "P(1)", head + after).a == 1


def test_a_class_that_is_gone_is_named(classes: Classes) -> None:
    source = f"{DATACLASS}@dataclass\nclass P:\n    a: int"
    with pytest.raises(StateMigrationError, match=r"of evolving\.P, which is not there now .* bring the class back"):
        classes.become(source, "P(1)", "")
    encoder = StateEncoder()
    payload = encoder.encode(classes.define(source).P(1))
    del sys.modules["evolving"]
    check_classes("here", encoder.classes)
    with pytest.raises(StateMigrationError, match=r"evolving\.P"):
        decode_state(payload)


def test_a_class_that_says_itself_how_it_is_pickled(classes: Classes) -> None:
    source = f"""
    {DATACLASS.strip()}
    @dataclass
    class P:
        a: int
        def __reduce__(self):
            return P, (self.a + 1,)
    """
    assert classes.become(source, "P(1)", source).a == 2
    source = f"""
    {DATACLASS.strip()}
    @dataclass
    class P:
        a: int
        def __getstate__(self):
            return self.a
        def __setstate__(self, state):
            self.a = state * 10
    """
    assert classes.become(source, "P(2)", source).a == 20


def test_classes_within_functions() -> None:
    from dataclasses import dataclass

    @dataclass
    class Local:
        a: int

    assert decode_state(StateEncoder().encode([Local(1)]))[0].a == 1


def test_a_class_that_becomes_a_dataclass(classes: Classes) -> None:
    plain = "class P:\n    def __init__(self, a):\n        self.a = a"
    assert classes.become(plain, "P(1)", f"{DATACLASS}@dataclass\nclass P:\n    a: int").a == 1


# States of functions


class Keeps(KeyedProcessFunction):
    """Puts values into a state, and gives what is there."""

    def __init__(self, descriptor: Any) -> None:
        self.descriptor = descriptor

    def open(self, runtime_context: Any) -> None:
        name = type(self.descriptor).__name__.removesuffix("StateDescriptor").lower()
        getter = "get_state" if name == "value" else f"get_{name}_state"
        self.state = getattr(runtime_context, getter)(self.descriptor)

    def process_element(self, value: Any, ctx: Any) -> Any:
        _, put = value
        if put is not None:
            method, arguments = put
            getattr(self.state, method)(*arguments)
        read = next(method for method in ("value", "items", "get") if hasattr(self.state, method))
        found = getattr(self.state, read)()
        yield dict(found) if read == "items" else found


def first(value: Any) -> Any:
    return value[0]


def written(descriptor: Any, method: str, *arguments: Any) -> HarnessSnapshot:
    with OperatorHarness(Keeps(descriptor), key=first, names=["keeper"]) as harness:
        harness.push(("k", (method, arguments)))
        return harness.snapshot()


def read(descriptor: Any, snapshot: HarnessSnapshot) -> Any:
    with OperatorHarness(Keeps(descriptor), key=first, names=["keeper"], restore=snapshot) as harness:
        harness.push(("k", None))
        return harness.values()[0]


BEFORE = Types.ROW_NAMED(["id", "old", "name"], [Types.INT(), Types.INT(), Types.STRING()])
AFTER = Types.ROW_NAMED(["name", "new", "id"], [Types.STRING(), Types.DOUBLE(), Types.INT()])
WAS, IS = Row(id=1, old=2, name="n"), Row(name="n", new=None, id=1)


def expiring(descriptor: Any) -> Any:
    descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
    return descriptor


@pytest.mark.parametrize("with_ttl", [False, True])
@pytest.mark.parametrize(
    ("describe", "put", "expected"),
    [
        (lambda row: ValueStateDescriptor("s", row), ("update", WAS), IS),
        (lambda row: ListStateDescriptor("s", row), ("add_all", [WAS, WAS]), [IS, IS]),
        (lambda row: MapStateDescriptor("s", Types.STRING(), row), ("put", "x", WAS), {"x": IS}),
        (lambda row: ReducingStateDescriptor("s", max, row), ("add", WAS), IS),
    ],
    ids=["value", "list", "map", "reducing"],
)
def test_fields_of_rows_come_and_go(
    describe: Callable[[Any], Any], put: tuple[Any, ...], expected: Any, with_ttl: bool
) -> None:
    before, after = describe(BEFORE), describe(AFTER)
    if with_ttl:
        before, after = expiring(before), expiring(after)
    found = read(after, written(before, *put))
    assert found == expected
    rows = found if isinstance(found, list) else found.values() if isinstance(found, dict) else [found]
    assert {tuple(row.get_field_names()) for row in rows} == {("name", "new", "id")}


def test_rows_within_rows() -> None:
    def outer(inner: Any) -> Any:
        return ValueStateDescriptor("s", Types.ROW_NAMED(["n", "inner"], [Types.INT(), inner]))

    found = read(outer(AFTER), written(outer(BEFORE), "update", Row(n=1, inner=WAS)))
    assert found == Row(n=1, inner=IS)
    assert found.inner.new is None
    assert read(outer(AFTER), written(outer(BEFORE), "update", Row(n=1, inner=None))) == Row(n=1, inner=None)


def test_a_field_of_a_row_must_keep_its_type() -> None:
    now = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.LONG()])
    with pytest.raises(JobExecutionError, match=r"operator 'keeper', state 's', field 'name': its type was .* and is"):
        read(ValueStateDescriptor("s", now), written(ValueStateDescriptor("s", BEFORE), "update", WAS))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (ValueStateDescriptor("s", Types.INT()), ValueStateDescriptor("s", Types.STRING())),
        (ListStateDescriptor("s", Types.INT()), ListStateDescriptor("s", Types.STRING())),
        (ValueStateDescriptor("s", BEFORE), ValueStateDescriptor("s", Types.INT())),
        (
            MapStateDescriptor("s", Types.INT(), Types.INT()),
            MapStateDescriptor("s", Types.STRING(), Types.INT()),
        ),
        (
            MapStateDescriptor("s", Types.INT(), Types.INT()),
            MapStateDescriptor("s", Types.INT(), Types.STRING()),
        ),
    ],
)
def test_a_type_that_has_changed_is_named(before: Any, after: Any) -> None:
    put = {"Value": ("update", 1), "List": ("add", 1), "Map": ("put", 1, 1)}
    snapshot = written(before, *put[type(before).__name__.removesuffix("StateDescriptor")])
    with pytest.raises(
        JobExecutionError, match=r"operator 'keeper', state 's'.* in the checkpoint and is .* now"
    ) as raised:
        read(after, snapshot)
    assert not raised.value.failure.checkpoint_unreadable


def test_a_type_may_be_declared_or_left_out_later() -> None:
    snapshot = written(ValueStateDescriptor("s"), "update", 5)
    assert read(ValueStateDescriptor("s", Types.INT()), snapshot) == 5
    snapshot = written(ValueStateDescriptor("s", Types.INT()), "update", 5)
    assert read(ValueStateDescriptor("s"), snapshot) == 5


KINDS = {
    "value": (ValueStateDescriptor("s"), ("update", 1)),
    "list": (ListStateDescriptor("s"), ("add", 1)),
    "map": (MapStateDescriptor("s"), ("put", 1, 1)),
    "reducing": (ReducingStateDescriptor("s", max), ("add", 1)),
    "aggregating": (AggregatingStateDescriptor("s", Numbers()), ("add", ("k", 1))),
}


@pytest.mark.parametrize(("was", "now"), [(was, now) for was in KINDS for now in KINDS if was != now])
def test_a_kind_that_has_changed_is_named(was: str, now: str) -> None:
    descriptor, put = KINDS[was]
    message = f"operator 'keeper', state 's': it was a {was} state in the checkpoint and is described as a {now} state"
    with pytest.raises(JobExecutionError, match=message):
        read(KINDS[now][0], written(descriptor, *put))


@pytest.mark.parametrize("kind", list(KINDS))
def test_time_to_live_cannot_be_turned_on_or_off(kind: str) -> None:
    import copy

    descriptor, put = KINDS[kind]
    with_ttl = expiring(copy.copy(descriptor))
    where = "operator 'keeper', state 's': it had"
    with pytest.raises(JobExecutionError, match=f"{where} no time to live in the checkpoint and has one now"):
        read(with_ttl, written(descriptor, *put))
    with pytest.raises(JobExecutionError, match=f"{where} time to live in the checkpoint and has none now"):
        read(descriptor, written(with_ttl, *put))
    longer = copy.copy(descriptor)
    longer.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(5)).cleanup_full_snapshot().build())
    assert read(longer, written(with_ttl, *put)) is not None


def test_state_that_nobody_asks_for_stays() -> None:
    snapshot = written(ValueStateDescriptor("s"), "update", 5)
    with OperatorHarness(
        Keeps(ValueStateDescriptor("other")), key=first, names=["keeper"], restore=snapshot
    ) as harness:
        harness.push(("k", None))
        again = harness.snapshot()
    assert read(ValueStateDescriptor("s"), again) == 5


def test_classes_of_a_state_are_checked(classes: Classes) -> None:
    source = f"{DATACLASS}@dataclass\nclass P:\n    a: int"
    snapshot = written(ValueStateDescriptor("s"), "update", classes.define(source).P(1))
    classes.define(source.replace("int", "str"))
    with pytest.raises(JobExecutionError, match="operator 'keeper', state 's': field 'a' of class P was int"):
        read(ValueStateDescriptor("s"), snapshot)
    classes.define("")
    with pytest.raises(JobExecutionError, match=r"operator 'keeper', state 's': .*objects of evolving\.P"):
        read(ValueStateDescriptor("s"), snapshot)
    classes.define(source + "\n    b: int")
    with pytest.raises(JobExecutionError, match="operator 'keeper', state 's': class P has a new field 'b'"):
        read(ValueStateDescriptor("s"), snapshot)
    classes.define("import enum\nclass P:\n    def __new__(cls):\n        raise RuntimeError('no more')")
    with pytest.raises(JobExecutionError, match=r"operator 'keeper', state 's': a value .* RuntimeError: no more"):
        read(ValueStateDescriptor("s"), snapshot)


# What cannot be written


class Lock:
    def __reduce__(self) -> Any:
        raise TypeError("locks stay where they are")

    def __repr__(self) -> str:
        return "a lock"


@pytest.mark.parametrize(
    ("descriptor", "put"),
    [
        (ValueStateDescriptor("s"), ("update", "LOCK")),
        (ListStateDescriptor("s"), ("add", "LOCK")),
        (MapStateDescriptor("s"), ("put", 1, "LOCK")),
        (ReducingStateDescriptor("s", max), ("add", "LOCK")),
    ],
)
def test_a_value_that_cannot_be_written_is_named(descriptor: Any, put: tuple[Any, ...]) -> None:
    with OperatorHarness(WithLock(descriptor), key=first, names=["keeper"]) as harness:
        harness.push(("fine", None), ("k", put))
        with pytest.raises(CheckpointError) as raised:
            harness.snapshot()
        for text in ("operator 'keeper', state 's': the value", "a lock", "of key 'k'", "locks stay where they are"):
            assert text in str(raised.value)


class WithLock(Keeps):
    def process_element(self, value: Any, ctx: Any) -> Any:
        _, put = value
        if put is not None:
            getattr(self.state, put[0])(*[Lock() if part == "LOCK" else part for part in put[1:]])


class HoldsLock(MapFunction, CheckpointedFunction):
    def initialize_state(self, context: Any) -> None:
        self.held = context.get_operator_state_store().get_list_state(ListStateDescriptor("held"))

    def snapshot_state(self, context: Any) -> None:
        self.held.update(["fine", Lock()])

    def map(self, value: Any) -> Any:
        return value


def test_an_element_that_cannot_be_written_is_named() -> None:
    with OperatorHarness(HoldsLock(), names=["holder"]) as harness:
        with pytest.raises(CheckpointError) as raised:
            harness.snapshot()
        for text in ("operator 'holder', state 'held': the element a lock", "locks stay where they are"):
            assert text in str(raised.value)


# Operator state


class Describes(MapFunction, CheckpointedFunction):
    def __init__(self, method: str, descriptor: Any) -> None:
        self.method, self.descriptor = method, descriptor

    def initialize_state(self, context: Any) -> None:
        self.state = getattr(context.get_operator_state_store(), self.method)(self.descriptor)

    def snapshot_state(self, context: Any) -> None:
        pass

    def map(self, value: Any) -> Any:
        return value


@pytest.mark.parametrize(
    ("method", "descriptor", "message"),
    [
        ("get_union_list_state", ListStateDescriptor("s", Types.INT()), "is of kind 'operator list' and cannot be"),
        ("get_broadcast_state", MapStateDescriptor("s"), "is of kind 'operator list' and cannot be"),
        ("get_list_state", ListStateDescriptor("s", Types.STRING()), "the elements of operator state 's' were"),
    ],
)
def test_operator_state_that_has_changed_is_named(method: str, descriptor: Any, message: str) -> None:
    with OperatorHarness(
        Describes("get_list_state", ListStateDescriptor("s", Types.INT())), names=["holder"]
    ) as harness:
        snapshot = harness.snapshot()
    with pytest.raises(JobExecutionError, match=f"operator 'holder'.*{message}"):
        OperatorHarness(Describes(method, descriptor), names=["holder"], restore=snapshot)
