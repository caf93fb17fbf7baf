"""What every benchmark program shares: its command line, and the one line that it prints at the end.

Kept to the standard library, because the programs of other engines run in environments of their own.
"""

import argparse
import json

__all__ = ["parse", "report"]


def parse(
    description: str | None, *, records: int, steps: int | None = None, workers: int | None = None
) -> argparse.Namespace:
    """Read the program's options.

    Always `--records` and `--data` (an input file); `--steps` and `--workers` if they have a default here.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--records", type=int, default=records, help="records to process (%(default)s)")
    parser.add_argument("--data", default="", help="the input file, for workloads that read one")
    if steps is not None:
        parser.add_argument("--steps", type=int, default=steps, help="steps of the chain (%(default)s)")
    if workers is not None:
        parser.add_argument("--workers", type=int, default=workers, help="workers to run (%(default)s)")
    return parser.parse_args()


def report(records: int, seconds: float, **result: int) -> None:
    """Print the line that the harness reads: how many records in what time, and what came out."""
    print(json.dumps({"records": records, "seconds": seconds, "result": result}), flush=True)
