from __future__ import annotations

import json
from typing import Any

import pytest

from spry.common.errors import InvalidProgramError
from spry.common.operators import ChainingStrategy
from spry.common.partitioning import Broadcast, Forward, Global, KeyGroups, Rebalance, Rescale, Shuffle
from spry.common.typeinfo import Types
from spry.common.watermark_strategy import WatermarkStrategy
from spry.connectors.number_seq import NumberSequenceSource
from spry.datastream import (
    OutputTag,
    ParallelSourceFunction,
    ProcessFunction,
    RuntimeExecutionMode,
    SourceFunction,
    StreamExecutionEnvironment,
)
from spry.graph.stream_graph import StreamGraph
from tests.local_job import new_environment, plain


class Tagger(ProcessFunction):
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
        yield value


class Endless(SourceFunction):
    def run(self, ctx: Any) -> None: ...

    def cancel(self) -> None: ...


class Ending(Endless):
    bounded = True


class ParallelEnding(ParallelSourceFunction):
    bounded = True

    def run(self, ctx: Any) -> None: ...

    def cancel(self) -> None: ...


def edges(graph: StreamGraph) -> list[tuple[str, str, str, str | None]]:
    return [(plain(e.source.name), plain(e.target.name), e.partitioning.ship_strategy, e.tag) for e in graph.edges]


def test_partitions_unions_and_side_outputs_make_no_nodes() -> None:
    env = new_environment(2)
    tag = OutputTag("late", Types.LONG())
    source = env.from_sequence(1, 10).name("source")
    main = source.rebalance().process(Tagger()).name("tagger")
    main.get_side_output(tag).union(source.shuffle()).map(str.upper).name("both").key_by(lambda v: v).print().name(
        "out"
    )
    graph = env.get_stream_graph()
    assert [plain(node.name) for node in graph.nodes] == ["source", "tagger", "both", "out"]
    assert edges(graph) == [
        ("source", "tagger", "REBALANCE", None),
        ("tagger", "both", "FORWARD", "late"),
        ("source", "both", "SHUFFLE", None),
        ("both", "out", "HASH", None),
    ]
    assert graph.nodes[1].side_types == {"late": Types.LONG()}


def test_a_partitioning_behind_a_union_holds_for_every_input() -> None:
    env = new_environment(2)
    united = env.from_sequence(1, 2).name("a").union(env.from_sequence(1, 2).name("b")).broadcast()
    united.map(lambda v: v).name("m")
    assert edges(env.get_stream_graph()) == [("a", "m", "BROADCAST", None), ("b", "m", "BROADCAST", None)]


def test_the_last_partitioning_counts() -> None:
    env = new_environment(2)
    env.from_sequence(1, 2).rebalance().shuffle().map(lambda v: v)
    assert [edge.partitioning.ship_strategy for edge in env.get_stream_graph().edges] == ["SHUFFLE"]


def test_a_stream_united_with_itself_has_two_edges() -> None:
    env = new_environment(1)
    source = env.from_sequence(1, 2).name("a")
    source.union(source).map(lambda v: v).name("m")
    assert len(env.get_stream_graph().edges) == 2


@pytest.mark.parametrize(("first", "second", "expected"), [(2, 2, Forward), (2, 3, Rebalance), (1, 4, Rebalance)])
def test_without_a_partitioning_parallelism_decides(first: int, second: int, expected: type) -> None:
    env = new_environment(1)
    env.from_sequence(1, 2).set_parallelism(first).map(lambda v: v).set_parallelism(second)
    (edge,) = env.get_stream_graph().edges
    assert type(edge.partitioning) is expected
    assert not edge.explicit


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("shuffle", Shuffle),
        ("rebalance", Rebalance),
        ("rescale", Rescale),
        ("broadcast", Broadcast),
        ("global_", Global),
    ],
)
def test_a_partitioning_that_was_asked_for_is_kept(method: str, expected: type) -> None:
    env = new_environment(2)
    getattr(env.from_sequence(1, 2), method)().map(lambda v: v)
    (edge,) = env.get_stream_graph().edges
    assert type(edge.partitioning) is expected
    assert edge.explicit


def test_forward_needs_equal_parallelism() -> None:
    env = new_environment(1)
    env.from_sequence(1, 2).name("few").set_parallelism(2).forward().map(lambda v: v).name("many").set_parallelism(3)
    with pytest.raises(InvalidProgramError, match=r"'Source: few' has 2 and 'many' has 3: use rebalance"):
        env.get_stream_graph()


def test_side_output_of_a_side_output_is_refused() -> None:
    env = new_environment(1)
    tag = OutputTag("a")
    with pytest.raises(InvalidProgramError, match="get_side_output"):
        env.from_sequence(1, 2).process(Tagger()).get_side_output(tag).get_side_output(tag)


def test_equal_uids_are_refused() -> None:
    env = new_environment(1)
    stream = env.from_sequence(1, 2).map(lambda v: v).name("one").uid("u")
    stream.map(lambda v: v).name("two").uid("u")
    with pytest.raises(InvalidProgramError, match=r"'one' and 'two' have the same uid 'u'"):
        env.get_stream_graph()


def uids(change: Any = None, parallelism: int = 2) -> dict[str, str]:
    env = new_environment(parallelism)
    first = env.from_sequence(1, 2).map(lambda v: v).name("first")
    if change is not None:
        change(first)
    first.key_by(lambda v: v).reduce(lambda a, b: a).name("second")
    return {plain(node.name): node.uid for node in env.get_stream_graph().nodes}


def test_generated_uids_are_stable() -> None:
    base = uids()
    assert len(set(base.values())) == 3
    assert uids() == base
    assert uids(parallelism=4) == base
    renamed = uids(lambda stream: stream.name("other"))
    assert renamed["second"] == base["second"]
    assert renamed["other"] == base["first"]
    assert uids(lambda stream: stream.disable_chaining()) == base


def test_generated_uids_follow_the_structure() -> None:
    base = uids()
    assert uids(lambda stream: stream.filter(bool))["first"] == base["first"]
    assert uids(lambda stream: stream.filter(bool))["second"] != base["second"]


def test_the_users_uid_is_taken_as_it_is_and_a_hash_wins() -> None:
    assert uids(lambda stream: stream.uid("mine"))["first"] == "mine"
    assert uids(lambda stream: stream.uid("mine").set_uid_hash("f00"))["first"] == "f00"


@pytest.mark.parametrize(
    ("parallelism", "expected"), [(1, 128), (85, 128), (86, 256), (172, 512), (20_000, 1 << 15), (1 << 15, 1 << 15)]
)
def test_max_parallelism_follows_flinks_rule(parallelism: int, expected: int) -> None:
    env = new_environment(1)
    env.from_sequence(1, 2).map(lambda v: v).name("m").set_parallelism(parallelism)
    assert env.get_stream_graph().nodes[-1].max_parallelism == expected


def test_max_parallelism_is_the_operators_or_the_environments() -> None:
    env = new_environment(1)
    env.set_max_parallelism(64)
    env.from_sequence(1, 2).map(lambda v: v).set_max_parallelism(32).map(lambda v: v)
    assert [node.max_parallelism for node in env.get_stream_graph().nodes] == [64, 32, 64]


def test_parallelism_above_the_maximum_is_refused() -> None:
    env = new_environment(1)
    env.from_sequence(1, 2).map(lambda v: v).name("wide").set_parallelism(5).set_max_parallelism(4)
    with pytest.raises(InvalidProgramError, match=r"'wide' has parallelism 5 but max parallelism 4"):
        env.get_stream_graph()


def test_the_execution_plan_is_flinks_json() -> None:
    env = new_environment(2)
    words = env.from_collection(["a"]).map(lambda v: v).set_description("says more")
    words.key_by(lambda v: v).reduce(lambda a, b: a).print()
    nodes = json.loads(env.get_execution_plan())["nodes"]
    assert [node["pact"] for node in nodes] == ["Data Source", "Operator", "Operator", "Data Sink"]
    assert [node["parallelism"] for node in nodes] == [1, 2, 2, 2]
    assert "predecessors" not in nodes[0]
    assert nodes[1]["predecessors"] == [{"id": nodes[0]["id"], "ship_strategy": "REBALANCE", "side": "second"}]
    assert nodes[2]["predecessors"][0]["ship_strategy"] == "HASH"
    assert nodes[3]["predecessors"][0]["ship_strategy"] == "FORWARD"
    assert (nodes[1]["type"], nodes[1]["contents"]) == ("Map", "says more")
    assert set(nodes[1]) == {"id", "type", "pact", "contents", "parallelism", "predecessors"}
    assert json.loads(env.get_execution_plan())["nodes"] == nodes, "asking for the plan does not use the program up"


def test_an_empty_program_is_refused() -> None:
    env = new_environment(1)
    env.from_collection([1])
    with pytest.raises(InvalidProgramError, match="nothing to execute"):
        env.get_stream_graph()


def test_long_chains_need_no_recursion() -> None:
    env = new_environment(1)
    stream = env.from_collection([1])
    for _ in range(3000):
        stream = stream.map(lambda v: v)
    assert len(env.get_stream_graph().nodes) == 3001


def test_a_diamond_has_each_operator_once() -> None:
    env = new_environment(1)
    top = env.from_collection([1]).name("top")
    left, right = top.map(lambda v: v).name("left"), top.filter(bool).name("right")
    left.union(right).print().name("bottom")
    graph = env.get_stream_graph()
    assert sorted(plain(node.name) for node in graph.nodes) == ["bottom", "left", "right", "top"]
    order = [plain(node.name) for node in graph.nodes]
    assert order.index("top") < order.index("left") < order.index("bottom")


def test_keyed_edges_carry_the_key() -> None:
    env = new_environment(2)
    env.from_collection([("a", 1)]).key_by(0).sum(1)
    (edge,) = env.get_stream_graph().edges
    assert isinstance(edge.partitioning, KeyGroups)
    assert edge.partitioning.key(("a", 1)) == "a"
    assert edge.target.description.key is edge.partitioning.key


# Batch or streaming


def sources(env: StreamExecutionEnvironment, kind: str) -> None:
    if kind in ("bounded", "both"):
        env.from_collection([1]).print()
    if kind in ("unbounded", "both"):
        env.add_source(Endless(), "endless").print()
    if kind == "says so":
        env.add_source(Ending()).union(env.add_source(ParallelEnding())).print()


@pytest.mark.parametrize(
    ("mode", "kind", "batch"),
    [
        (RuntimeExecutionMode.AUTOMATIC, "bounded", True),
        (RuntimeExecutionMode.AUTOMATIC, "says so", True),
        (RuntimeExecutionMode.AUTOMATIC, "unbounded", False),
        (RuntimeExecutionMode.AUTOMATIC, "both", False),
        (RuntimeExecutionMode.STREAMING, "bounded", False),
        (RuntimeExecutionMode.BATCH, "bounded", True),
        (RuntimeExecutionMode.BATCH, "says so", True),
    ],
)
def test_mode(mode: RuntimeExecutionMode, kind: str, batch: bool) -> None:
    env = new_environment(1)
    env.set_runtime_mode(mode)
    sources(env, kind)
    assert env.get_stream_graph().settings.batch is batch


@pytest.mark.parametrize("kind", ["unbounded", "both"])
def test_batch_mode_needs_sources_that_end(kind: str) -> None:
    env = new_environment(1)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    sources(env, kind)
    with pytest.raises(InvalidProgramError, match=r"'Source: endless' is not"):
        env.get_stream_graph()


def test_names_of_sources_and_sinks_say_what_they_are() -> None:
    env = new_environment(1)
    source = env.from_collection([1]).name("mine")
    source.print().name("lines")
    assert source.get_name() == "mine"
    plan = json.loads(env.get_execution_plan())["nodes"]
    assert [node["type"] for node in plan] == ["Source: mine", "Sink: lines"]


def test_settings_after_from_source_are_those_of_the_source() -> None:
    env = new_environment(4)
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    stream = env.from_source(NumberSequenceSource(1, 9), strategy, "numbers")
    stream.name("mine").uid("my-source").set_parallelism(2).set_max_parallelism(8).start_new_chain()
    assert (stream.get_name(), stream.get_parallelism()) == ("mine", 2)
    stream.map(lambda n: n)
    source, behind = env.get_stream_graph().nodes
    assert (source.name, source.uid, source.chaining) == ("Source: mine", "my-source", ChainingStrategy.HEAD)
    assert [(node.parallelism, node.max_parallelism) for node in (source, behind)] == [(2, 8), (4, 128)]


def test_a_side_output_has_one_type() -> None:
    env = new_environment(1)
    tagged = env.from_collection([1]).process(Tagger()).name("tagger")
    tagged.get_side_output(OutputTag("late", Types.INT())).print()
    tagged.get_side_output(OutputTag("late", Types.INT())).print()
    env.get_stream_graph(clear_transformations=False)
    tagged.get_side_output(OutputTag("late", Types.STRING())).print()
    with pytest.raises(InvalidProgramError, match=r"'late' of operator 'tagger' .* two types: Integer and String"):
        env.get_stream_graph()


def test_without_generated_uids_state_needs_one() -> None:
    env = new_environment()
    env.get_config().disable_auto_generated_uids()
    keyed = env.from_collection([1]).uid("numbers").key_by(lambda n: n)
    keyed.reduce(lambda a, b: a + b).uid("sums").map(str).print()
    env.get_stream_graph()
    env.from_collection([1]).print()
    with pytest.raises(InvalidProgramError, match=r"operator 'Collection Source' has state but no uid.*uid\('...'\)"):
        env.get_stream_graph()
