"""The words of the commands for running jobs and for checkpoints. What they do is in ``control`` and ``state``."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = ["CONTROL_COMMANDS", "add_control_parsers", "add_state_parser"]

CONTROL_COMMANDS = ("list", "savepoint", "stop", "cancel", "query")

_JOB = "the job's id, the beginning of it, or its name ('spry list' shows them)"


def add_control_parsers(commands: Any, form: Any) -> None:
    """The words of these commands."""
    listing = commands.add_parser(
        "list",
        help="list the jobs that run on this machine",
        description="List the jobs of this user that run on this machine.",
        epilog="examples:\n  spry list\n",
        formatter_class=form,
        allow_abbrev=False,
    )
    listing.set_defaults(job=None)

    savepoint = commands.add_parser(
        "savepoint",
        help="take a savepoint of a running job",
        description="Take a savepoint of a running job, which goes on. Prints the savepoint's path.",
        epilog="examples:\n  spry savepoint 7f3a /data/savepoints\n  spry savepoint word-count --native\n",
        formatter_class=form,
        allow_abbrev=False,
    )
    savepoint.add_argument("job", metavar="JOB", help=_JOB)
    savepoint.add_argument("directory", nargs="?", metavar="DIR", help="where (default: the job's savepoint-dir)")
    _add_native(savepoint)

    stop = commands.add_parser(
        "stop",
        help="stop a running job with a savepoint",
        description="Stop a running job with a savepoint, to go on from it later. Prints the savepoint's path.",
        epilog="examples:\n  spry stop 7f3a -p /data/savepoints\n  spry stop --drain word-count\n\n"
        "With --drain the input counts as over: all windows and timers fire before the savepoint is taken.\n",
        formatter_class=form,
        allow_abbrev=False,
    )
    stop.add_argument("job", metavar="JOB", help=_JOB)
    stop.add_argument(
        "-p", "--savepoint-path", dest="directory", metavar="DIR", help="where (default: the job's savepoint-dir)"
    )
    stop.add_argument("-d", "--drain", action="store_true", help="let event time end before the savepoint is taken")
    _add_native(stop)

    cancel = commands.add_parser(
        "cancel",
        help="cancel a running job",
        description="Cancel a running job. Its checkpoints stay if it retains them on cancellation.",
        epilog="examples:\n  spry cancel 7f3a\n",
        formatter_class=form,
        allow_abbrev=False,
    )
    cancel.add_argument("job", metavar="JOB", help=_JOB)

    query = commands.add_parser(
        "query",
        help="read a queryable state of a running job",
        description="Print what a queryable state of a running job holds for a key.",
        epilog="examples:\n  spry query word-count counts \"'spry'\"\n  spry query 7f3a totals '(\"eu\", 7)'\n\n"
        "The key is written as in Python; what is no Python value is taken as a string.\n",
        formatter_class=form,
        allow_abbrev=False,
    )
    query.add_argument("job", metavar="JOB", help=_JOB)
    query.add_argument("name", metavar="STATE", help="what the program calls the state for queries")
    query.add_argument("key", metavar="KEY")


def _add_native(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--native", action="store_true", help="in the form of the state backend: quicker, but only for that backend"
    )


def add_state_parser(commands: Any, form: Any) -> None:
    """The words of this command."""
    parser = commands.add_parser(
        "state",
        help="look into a checkpoint or a savepoint",
        description="Look into a checkpoint or a savepoint. The program that it is of is not needed.",
        epilog="examples:\n"
        "  spry state ls /data/savepoints/savepoint-7f3a11-9c2e\n"
        "  spry state ls /data/checkpoints/7f3a.../chk-42\n"
        "  spry state cat PATH\n"
        "  spry state cat PATH --operator counts --state total --limit 10\n",
        formatter_class=form,
        allow_abbrev=False,
    )
    parser.add_argument("what", choices=["ls", "cat"], help="ls: operators, states and sizes; cat: entries, too")
    parser.add_argument("path", metavar="PATH", help="a savepoint's or checkpoint's directory, or a job's")
    parser.add_argument("--operator", metavar="NAME", help="only this operator (its name or uid)")
    parser.add_argument("--state", metavar="NAME", help="only this state")
    parser.add_argument("--limit", type=int, default=100, metavar="N", help="entries per state (default: 100)")
