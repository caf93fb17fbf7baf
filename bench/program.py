"""What every benchmark program shares: its command line, and the one line that it prints at the end.

Kept to the standard library, because the programs of other engines run in environments of their own.
"""

import argparse
import json

__all__ = ["parse", "report"]


def parse(description: str | None, *, records: int, **more: int) -> argparse.Namespace:
    """Read the program's options: `--records`, `--data` (an input file), and `more` with their defaults."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--records", type=int, default=records, help="records to process (%(default)s)")
    parser.add_argument("--data", default="", help="the input file, for workloads that read one")
    for name, default in more.items():
        parser.add_argument(f"--{name}", type=int, default=default, help="(%(default)s)")
    return parser.parse_args()


def report(records: int, seconds: float, **result: int) -> None:
    """Print the line that the harness reads: how many records in what time, and what came out."""
    print(json.dumps({"records": records, "seconds": seconds, "result": result}), flush=True)
