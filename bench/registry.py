"""The benchmarks there are: whatever the packages under `bench/workloads` name in `BENCHMARKS`."""

import importlib
import pkgutil

import bench.workloads
from bench.model import Benchmark

__all__ = ["load"]


def load() -> dict[str, Benchmark]:
    """Return every benchmark by name, in the order of the packages' names."""
    found: dict[str, Benchmark] = {}
    for package in sorted(pkgutil.iter_modules(bench.workloads.__path__), key=lambda module: module.name):
        module = importlib.import_module(f"bench.workloads.{package.name}")
        for benchmark in module.BENCHMARKS:
            if benchmark.name in found:
                raise ValueError(f"two benchmarks are named {benchmark.name!r}")
            found[benchmark.name] = benchmark
    return found
