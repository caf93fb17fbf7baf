"""One package per benchmark (or per family of them).

To add one: make a package here whose `__init__.py` defines `BENCHMARKS`, a tuple of `Workload` (engines that
do the same work) or `Report` (a program with a table of its own), and put its programs beside it.
"""
