"""`python -m bench`: list the benchmarks, or run some of them."""

import argparse
import sys
from pathlib import Path

from bench.harness import BenchError, Outcome, Settings, run_report, run_workload
from bench.model import Benchmark, Workload
from bench.registry import load
from bench.tables import as_text, results_page

RESULTS = Path(__file__).parent / "results.md"


def positive(text: str) -> int:
    number = int(text.replace("_", ""))
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m bench",
        description="Run benchmarks of Spry beside its peers. Without a name: list them.",
    )
    made.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run, or `all`")
    made.add_argument(
        "--peers",
        default="all",
        metavar="LIST",
        help="all, none, or names such as loop,bytewax (default: all)",
    )
    made.add_argument("--without-spry", action="store_true", help="run the peers only")
    made.add_argument("--runs", type=positive, metavar="N", help="runs per engine (default: 3)")
    made.add_argument(
        "--records", type=positive, metavar="N", help="records for every engine (default: each engine's own)"
    )
    made.add_argument(
        "--epochs", type=positive, metavar="N", help="epochs, for those that count in epochs (default: their own)"
    )
    made.add_argument("--json", action="store_true", help="print one JSON object per benchmark, as the last line")
    made.add_argument("--save", action="store_true", help=f"write the tables to {RESULTS.parent.name}/{RESULTS.name}")
    return made


def listing(benchmarks: dict[str, Benchmark]) -> str:
    width = max(len(name) for name in benchmarks)
    lines = ["Benchmarks (python -m bench NAME; --help shows the options):", ""]
    for name, benchmark in benchmarks.items():
        lines.append(f"  {name:<{width}}  {benchmark.summary}")
        if isinstance(benchmark, Workload):
            lines.append(f"  {'':<{width}}  peers: {', '.join(benchmark.peers)}")
    return "\n".join(lines)


def chosen_benchmarks(names: list[str], benchmarks: dict[str, Benchmark]) -> list[Benchmark]:
    if "all" in names:
        return list(benchmarks.values())
    unknown = [name for name in names if name not in benchmarks]
    if unknown:
        raise BenchError(f"there is no benchmark named {', '.join(unknown)}; there are: {', '.join(benchmarks)}")
    return [benchmarks[name] for name in names]


def chosen_peers(text: str, benchmarks: dict[str, Benchmark]) -> tuple[str, ...] | None:
    if text == "all":
        return None
    names = tuple(name for name in text.split(",") if name and name != "none")
    known = {peer for each in benchmarks.values() if isinstance(each, Workload) for peer in each.peers}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BenchError(f"there is no peer named {', '.join(unknown)}; there are: {', '.join(sorted(known))}")
    return names


def main() -> int:
    options = parser().parse_args()
    benchmarks = load()
    if not options.names:
        print(listing(benchmarks))
        return 0

    def say(text: str) -> None:
        print(f"  {text}", file=sys.stderr, flush=True)

    outcomes: list[Outcome] = []
    try:
        settings = Settings(
            say=say,
            peers=chosen_peers(options.peers, benchmarks),
            runs=options.runs,
            records=options.records,
            epochs=options.epochs,
            spry=not options.without_spry,
        )
        for benchmark in chosen_benchmarks(options.names, benchmarks):
            print(benchmark.name, file=sys.stderr, flush=True)
            if isinstance(benchmark, Workload):
                outcome = run_workload(benchmark, settings)
            else:
                outcome = run_report(benchmark, settings)
            outcomes.append(outcome)
            print(f"\n{as_text(outcome)}\n", flush=True)
            if options.json:
                print(outcome.to_json(), flush=True)
    except BenchError as error:
        print(f"\nbench: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nbench: stopped", file=sys.stderr)
        return 130
    if options.save:
        known = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
        RESULTS.write_text(results_page(outcomes, known), encoding="utf-8")
        print(f"bench: wrote {RESULTS}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
