"""The benchmark programs that need no engine: they must do the work that they are said to do."""

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from bench.workloads.chain import run_inline, run_loop
from bench.workloads.chain.steps import STEPS
from bench.workloads.word_count.words import checksum, make_text

TEXT_OF_1000_WORDS = "5759eee7bd8a34b1d8fcbc5e5e241e0636bd680aca0cdf7fbdf11dc46ed7fe25"


def apply_steps(n: int, steps: int) -> tuple[int, int]:
    kept = []
    for x in range(n):
        for kind, function in STEPS[:steps]:
            if kind == "map":
                x = function(x)
            elif not function(x):
                break
        else:
            kept.append(x)
    return len(kept), sum(kept)


@pytest.mark.parametrize("program", [run_loop, run_inline])
def test_hand_written_chains_do_what_the_steps_say(program):
    assert program.five(5_000) == apply_steps(5_000, 5)
    assert program.ten(5_000) == apply_steps(5_000, 10)


def test_every_filter_of_the_chain_drops_something_and_keeps_most():
    kept = [apply_steps(20_000, steps)[0] for steps in range(len(STEPS) + 1)]
    for before, after, (kind, _) in zip(kept, kept[1:], STEPS, strict=False):
        if kind == "filter":
            assert 0.8 * before < after < before
        else:
            assert after == before


def test_the_text_is_the_same_everywhere(tmp_path: Path):
    text = make_text(tmp_path, 1_000).read_bytes()
    assert hashlib.sha256(text).hexdigest() == TEXT_OF_1000_WORDS
    assert len(text.split()) == 1_000
    assert text.count(b"\n") == 100


def test_the_text_is_made_once(tmp_path: Path):
    path = make_text(tmp_path, 100)
    path.write_text("already here")
    assert make_text(tmp_path, 100).read_text() == "already here"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_last_line_may_be_shorter(tmp_path: Path):
    lines = make_text(tmp_path, 25).read_text().splitlines()
    assert [len(line.split()) for line in lines] == [10, 10, 5]


def test_word_frequencies_fall_as_their_rank(tmp_path: Path):
    counts = [count for _, count in Counter(make_text(tmp_path, 200_000).read_text().split()).most_common()]
    assert 8_000 < len(counts) <= 10_000
    assert 0.4 < counts[1] / counts[0] < 0.6
    assert 0.07 < counts[9] / counts[0] < 0.13


def test_the_checksum_tells_counts_apart():
    counts = {"one": 1, "two": 2}
    assert checksum(counts)["words"] == 3
    assert checksum(counts)["distinct"] == 2
    assert checksum(counts) != checksum({"one": 2, "two": 1})
    parts = [checksum({"one": 1}), checksum({"two": 2})]
    assert checksum(counts) == {name: sum(part[name] for part in parts) for name in parts[0]}
