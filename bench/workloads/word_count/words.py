"""The text of the word-count benchmark: made once, the same on every machine."""

import itertools
import os
import random
import zlib
from pathlib import Path

__all__ = ["WORDS_PER_LINE", "checksum", "make_text"]

DISTINCT = 10_000
WORDS_PER_LINE = 10
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_CHUNK = 100_000


def vocabulary(rng: random.Random) -> list[str]:
    """Ten thousand different words of two to four syllables, in no particular order."""
    words: dict[str, None] = {}
    while len(words) < DISTINCT:
        words["".join(rng.choices(_SYLLABLES, k=rng.choice((2, 3, 3, 4))))] = None
    return list(words)


def make_text(directory: Path, words: int) -> Path:
    """Return a text of so many words, ten a line; make it if it is not there.

    The n-th word is 1/n times as frequent as the first (Zipf), as in natural language: a few keys are hot.
    Fifteen million words are 100 MB.
    """
    path = directory / f"words-{words}.txt"
    if path.exists():
        return path
    rng = random.Random(2015)
    known = vocabulary(rng)
    weights = list(itertools.accumulate(1 / rank for rank in range(1, DISTINCT + 1)))
    directory.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    with open(unfinished, "w", encoding="ascii") as text:
        for start in range(0, words, _CHUNK):
            chosen = rng.choices(known, cum_weights=weights, k=min(_CHUNK, words - start))
            text.writelines(
                " ".join(chosen[i : i + WORDS_PER_LINE]) + "\n" for i in range(0, len(chosen), WORDS_PER_LINE)
            )
    unfinished.replace(path)
    return path


def checksum(counts: dict[str, int]) -> dict[str, int]:
    """Condense final counts into numbers that engines can add up across their workers and compare."""
    return {
        "distinct": len(counts),
        "words": sum(counts.values()),
        "weighted": sum(count * zlib.crc32(word.encode()) for word, count in counts.items()),
    }
