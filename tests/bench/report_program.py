"""A program such as a `Report` benchmark runs; the tests of the harness run it."""

import json
import sys

print("some output that is not the result")
print(json.dumps({"rates": {"x": 12.5}, "ratios": {"x/y": 2}, "notes": [f"given {sys.argv[1:]}"]}))
