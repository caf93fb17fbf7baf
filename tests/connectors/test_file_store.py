from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest
from fsspec.implementations.arrow import ArrowFSWrapper
from pyarrow.fs import LocalFileSystem, S3FileSystem

from spry.connectors.file_splits import MAX_SPLIT_SIZE, FileSourceSplit, cut_into_splits
from spry.connectors.file_store import FoundFile, Location, _RemoteStore, open_store

MB = 1 << 20


@pytest.mark.parametrize(
    ("given", "root", "path"),
    [
        ("/a/b.txt", "", "/a/b.txt"),
        ("file:///a/b c%20.txt", "", "/a/b c%20.txt"),
        ("file://localhost/a", "", "/a"),
        ("file:/a", "", "/a"),
        ("s3://bucket/a/*.txt", "s3://bucket/", "a/*.txt"),
        ("s3a://bucket", "s3://bucket/", ""),
        ("s3://bucket/a?region=x&scheme=http", "s3://bucket/?region=x&scheme=http", "a"),
        ("hdfs://node:8020/a/b", "hdfs://node:8020/", "a/b"),
        ("hdfs:///a/b", "hdfs:///", "a/b"),
        ("https://host/a?b=c", "https://", "host/a?b=c"),
        ("memory://a/b", "memory://", "a/b"),
    ],
)
def test_locations(given: str, root: str, path: str) -> None:
    location = Location.of(given)
    assert (location.root, location.path, location.given) == (root, path, given)
    assert location.is_local == (not root)


def test_pyarrow_is_asked_first_for_s3() -> None:
    store = open_store("s3://bucket/?region=eu-west-1&endpoint_override=localhost:1")
    assert isinstance(store, _RemoteStore)
    assert isinstance(store._fs.fs, S3FileSystem)
    assert store._base == "bucket/"


def test_a_file_system_of_pyarrow(tmp_path: Path) -> None:
    for name in ["a.txt", "x/b.txt", "x/_no.txt", ".no/c.txt", "x/y/d.log"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    store = _RemoteStore(ArrowFSWrapper(LocalFileSystem()), f"{tmp_path}/")

    def names(path: str) -> list[str]:
        return [str(Path(file.path).relative_to(tmp_path)) for file in store.find(path)]

    assert names("") == ["a.txt", "x/b.txt", "x/y/d.log"]
    assert names("x") == names("x/") == ["x/b.txt", "x/y/d.log"]
    assert names("*.txt") == ["a.txt"]
    assert names("**/*.txt") == ["a.txt", "x/b.txt"]
    assert names("x/_no.txt") == ["x/_no.txt"]
    assert names("none") == names("*.none") == []
    assert store.exists("x") and store.exists("*.txt") and not store.exists("none") and not store.exists("*.none")
    found = store.find("x/b.txt")[0]
    assert found.size == 7
    assert abs(found.modified - (tmp_path / "x/b.txt").stat().st_mtime) < 1
    with store.open(found.path) as stream:
        stream.seek(2)
        assert stream.read(100) == b"b.txt"


def split(path: str, size: int | None, readers: int = 2, splittable: bool = True) -> list[FileSourceSplit]:
    return list(cut_into_splits("", [FoundFile(path, size)], readers, splittable))


def test_how_files_are_cut() -> None:
    assert split("a", 0) == []
    assert split("a", 5) == [FileSourceSplit("", "a", 0, 5, 5)]
    assert len(split("a", 16 * MB)) == 1
    assert len(split("a", 100 * MB)) == 7
    assert len(split("a", 1000 * MB)) == 8
    assert len(split("a", 1000 * MB, readers=20)) == 63
    assert len(split("a", 100_000 * MB)) == 100_000 * MB // MAX_SPLIT_SIZE + 1
    assert split("a", 100 * MB, splittable=False) == [FileSourceSplit("", "a", size=100 * MB)]
    assert split("a.gz", 100 * MB) == [FileSourceSplit("", "a.gz", size=100 * MB)]
    assert split("a", None) == [FileSourceSplit("", "a")]


def test_parts_follow_one_another() -> None:
    parts = split("a", 123_456_789, readers=5)
    assert parts[0].start == 0 and parts[-1].end == 123_456_789
    assert all(one.end == other.start for one, other in itertools.pairwise(parts))
    assert len({part.split_id() for part in parts}) == len(parts)


def test_nothing_heavy_is_imported() -> None:
    import subprocess

    code = "import sys, spry.connectors.file_system; print('pyarrow' in sys.modules, 'fsspec' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert out.stdout.split() == ["False", "False"]
