"""Benchmarks of Spry beside its peers. `python -m bench` lists them."""
