"""Chains of stateless steps, at parallelism 1: what a step costs."""

from collections.abc import Mapping

from bench.model import Benchmark, Engine, Workload


def _engines(steps: int) -> tuple[Engine, ...]:
    arguments = ("--steps", str(steps))
    return (
        Engine(
            "spry",
            "bench.workloads.chain.run_spry",
            records=40_000_000,
            arguments=arguments,
            measured="1 slot; from the start of the first epoch to the end of the job",
        ),
        Engine(
            "loop",
            "bench.workloads.chain.run_loop",
            records=10_000_000,
            arguments=arguments,
            measured="one thread, a call per step and record; the loop",
        ),
        Engine(
            "inline",
            "bench.workloads.chain.run_inline",
            records=10_000_000,
            arguments=arguments,
            measured="one thread, the same steps written out inline; the loop",
        ),
        Engine(
            "bytewax",
            "bench.workloads.chain.run_bytewax",
            records=4_000_000,
            arguments=arguments,
            environment="bytewax",
            measured="1 worker; from the first record to the end",
        ),
    )


def _five_of(name: str) -> Engine:
    engine = next(engine for engine in _engines(5) if engine.name == name)
    return Engine(
        f"{name}-5-steps",
        engine.module,
        records=engine.records,
        arguments=engine.arguments,
        environment=engine.environment,
        measured=engine.measured,
        needed_by=name,
    )


def _step_costs(rates: Mapping[str, float]) -> dict[str, float]:
    """Nanoseconds per record and step, and how the steps of ten compare with those of five."""
    costs: dict[str, float] = {}
    for name in ("spry", "loop"):
        if name in rates:
            ten = 1e9 / rates[name] / 10
            five = 1e9 / rates[f"{name}-5-steps"] / 5
            costs[f"{name}: ns per step, chain of 10"] = ten
            costs[f"{name}: ns per step, chain of 5"] = five
            costs[f"{name}: cost per step, 10 steps / 5 steps"] = ten / five
    return costs


BENCHMARKS: tuple[Benchmark, ...] = (
    Workload(
        name="chain-5",
        summary="sequence -> 5 map and filter steps -> sink; 1 slot",
        engines=_engines(5),
    ),
    Workload(
        name="chain-10",
        summary="sequence -> 10 map and filter steps -> sink; 1 slot; cost per step beside chain-5",
        engines=(*_engines(10), _five_of("spry"), _five_of("loop")),
        extra=_step_costs,
    ),
)
