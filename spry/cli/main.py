"""The command line: what there is, and what its words mean."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import spry
from spry.cli.words import CONTROL_COMMANDS, add_control_parsers, add_state_parser

if TYPE_CHECKING:
    from spry.cli.program import Program
    from spry.common.configuration import Configuration

__all__ = ["main"]

_USAGE_ERROR = 2
_TAKES_VALUE = frozenset(
    ["-s", "--from-savepoint", "-p", "--parallelism", "-D", "-c", "--config", "--progress", "--log", "-m", "--module"]
)

_MAIN_EXAMPLES = """\
examples:
  spry run job.py                    run a program
  spry run -p 4 job.py --input data  with parallelism 4; what follows job.py is the program's
  spry info job.py                   show the graphs of its job, without running it
  spry list                          the jobs that run on this machine
  spry stop JOB -p DIR               stop one with a savepoint; 'spry run -s PATH' goes on from it
  spry state ls PATH                 look into a checkpoint or savepoint
  spry options                       list all options

'spry COMMAND --help' tells more.
"""
_RUN_EXAMPLES = """\
examples:
  spry run job.py --input data.txt
  spry run -p 4 -D spry.epoch.target-duration=200ms job.py
  spry run -c config.yaml -D spark.master=spark://host:7077 job.py
  spry run -m my_package.my_job
  spry run -d job.py                 in the background; prints the process and its log
  spry run -s /data/savepoints/savepoint-7f3a11-9c2e job.py
                                     go on from a savepoint, or from a retained checkpoint
  spry run pyflink_job.py            a program that imports pyflink, as it stands

Options of spry stand before the program; everything after it is the program's own.

Settings, a later one wins: the configuration file (-c, or config.yaml in the directory that SPRY_CONF_DIR names), -D,
-p, and what the program itself sets on its environment.

Exit code: the program's own; 1 if a job or the program fails; 2 for a mistake on the command line; 130 after Ctrl-C,
which cancels the program's jobs.
"""
_INFO_EXAMPLES = """\
examples:
  spry info job.py
  spry info -p 8 job.py --input data.txt
  spry info --json job.py | jq .job_graph

The program runs until it submits its first job, which is shown instead of executed. Spark is not started.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """The ``spry`` command; gives the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = _parser()
    if not words:
        parser.print_help()
        return 0
    head, tail = _split(words)
    arguments = parser.parse_args(head)
    try:
        return _dispatch(parser, arguments, head, tail)
    except BrokenPipeError:
        # Whoever read our output has gone, for instance `head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """What is for ``spry``, and the program with its arguments: from the first word on that is no option.

    With ``-m`` the module is the program, and what follows it are the arguments.
    """
    if words[0] not in ("run", "info"):
        return words, []
    at = 1
    while at < len(words):
        word = words[at]
        if word == "--":
            return words[:at], words[at + 1 :]
        if not word.startswith("-") or word == "-":
            break
        at += 2 if word in _TAKES_VALUE else 1
        if word in ("-m", "--module") or word.startswith("--module="):
            break
    return words[:at], words[at:]


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="spry",
        description="Apache Flink's programming model in Python, on Apache Spark.",
        epilog=_MAIN_EXAMPLES,
        formatter_class=form,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    run = commands.add_parser(
        "run",
        help="run a program",
        description="Run a program, with settings from the command line.",
        usage="spry run [options] (PROGRAM.py | -m MODULE) [arguments of the program]",
        epilog=_RUN_EXAMPLES,
        formatter_class=form,
        allow_abbrev=False,
    )
    _add_settings(run)
    run.add_argument(
        "-s",
        "--from-savepoint",
        metavar="PATH",
        help="go on from a savepoint or a checkpoint: its directory, or that of a job for the job's newest",
    )
    run.add_argument(
        "-n",
        "--allow-non-restored-state",
        action="store_true",
        help="leave out state that no operator of the program takes",
    )
    run.add_argument("--claim", action="store_true", help="let the job remove what it started from when it can")
    run.add_argument(
        "--progress", metavar="MODE", help="how progress is shown: auto, live, log or none (spry.progress)"
    )
    run.add_argument("-d", "--detached", action="store_true", help="run in the background and return at once")
    run.add_argument(
        "--log", metavar="FILE", help="the log of a detached program (default: in SPRY_LOG_DIR or ~/.spry/logs)"
    )

    info = commands.add_parser(
        "info",
        help="show the graphs of a program's job, without running it",
        description="Show the stream graph, the job graph, the execution graph and the slots of a program's first job.",
        usage="spry info [options] (PROGRAM.py | -m MODULE) [arguments of the program]",
        epilog=_INFO_EXAMPLES,
        formatter_class=form,
        allow_abbrev=False,
    )
    _add_settings(info)
    info.add_argument("--json", action="store_true", help="print JSON")

    add_control_parsers(commands, form)
    add_state_parser(commands, form)
    commands.add_parser(
        "options",
        help="list all options",
        description="Print the reference of all options, as Markdown.",
        epilog="examples:\n  spry options | less\n  spry options | grep epoch\n",
        formatter_class=form,
        allow_abbrev=False,
    )
    return parser


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-p", "--parallelism", type=int, metavar="N", help="subtasks of operators that do not say themselves"
    )
    parser.add_argument(
        "-D",
        dest="definitions",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set an option, as often as needed; spark.* goes to Spark",
    )
    parser.add_argument("-c", "--config", metavar="FILE", help="a configuration file (YAML)")
    parser.add_argument("-m", "--module", metavar="MODULE", help="run a module instead of a file")
    parser.add_argument(
        "--no-pyflink-alias", action="store_true", help="let 'import pyflink' be PyFlink itself and not Spry"
    )


def _dispatch(parser: argparse.ArgumentParser, arguments: argparse.Namespace, head: list[str], tail: list[str]) -> int:
    if arguments.command == "options":
        from spry.common.options import reference

        print(reference())
        return 0
    if arguments.command in CONTROL_COMMANDS:
        from spry.cli.control import control

        return control(arguments)
    if arguments.command == "state":
        from spry.cli.state import state

        return state(arguments)
    from spry.cli.program import ProgramNotFoundError
    from spry.common.configuration import ConfigurationError

    try:
        program = _program(arguments, tail)
        program.check()
        overrides = _overrides(arguments)
    except (ConfigurationError, ProgramNotFoundError) as error:
        sys.stderr.write(f"spry: {error}\n")
        return _USAGE_ERROR
    if arguments.command == "info":
        from spry.cli.info import info

        return info(program, overrides, not arguments.no_pyflink_alias, arguments.json)
    from spry.cli.running import run, run_detached

    if arguments.detached:
        return run_detached(program, _without_detached(head[1:]) + ["--"] * bool(tail) + tail, arguments.log)
    return run(program, overrides, not arguments.no_pyflink_alias)


def _program(arguments: argparse.Namespace, tail: list[str]) -> Program:
    from spry.cli.program import Program, ProgramNotFoundError

    if arguments.module is not None:
        return Program(arguments.module, tuple(tail), is_module=True)
    if not tail:
        raise ProgramNotFoundError(f"name the program: spry {arguments.command} PROGRAM.py (or -m MODULE)")
    return Program(tail[0], tuple(tail[1:]))


def _overrides(arguments: argparse.Namespace) -> Configuration:
    from spry.cli.settings import overrides

    if arguments.command != "run":
        return overrides(arguments.config, arguments.definitions, arguments.parallelism)
    return overrides(
        arguments.config,
        arguments.definitions,
        arguments.parallelism,
        arguments.progress,
        _recovery(arguments),
    )


def _recovery(arguments: argparse.Namespace) -> dict[str, str]:
    """What ``-s``, ``-n`` and ``--claim`` mean as options."""
    said = {}
    if arguments.from_savepoint is not None:
        said["execution.state-recovery.path"] = arguments.from_savepoint
    if arguments.allow_non_restored_state:
        said["execution.state-recovery.ignore-unclaimed-state"] = "true"
    if arguments.claim:
        said["execution.state-recovery.claim-mode"] = "claim"
    return said


def _without_detached(words: list[str]) -> list[str]:
    kept, at = [], 0
    while at < len(words):
        if words[at] in _TAKES_VALUE:
            kept += words[at : at + 2]
            at += 1
        elif words[at] not in ("-d", "--detached"):
            kept.append(words[at])
        at += 1
    return kept


def _version() -> str:
    try:
        spark = f"PySpark {version('pyspark')}"
    except PackageNotFoundError:
        spark = "no PySpark"
    python = ".".join(map(str, sys.version_info[:3]))
    return f"spry {spry.__version__} (Python {python}, {spark})"
