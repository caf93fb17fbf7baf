"""The Spark application that jobs run in: the active one, or a local one of our own."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

from spry.cluster.java import check_java
from spry.common.configuration import Configuration
from spry.common.errors import JobSubmissionError
from spry.common.options import PythonOptions, SpryOptions

__all__ = ["get_spark_context", "release_thread"]

_LOCK = threading.Lock()

_AGAINST_REPEATS = {
    # A task that is run twice would apply an epoch twice: the job fails instead.
    "spark.task.maxFailures": "1",
    "spark.stage.maxConsecutiveAttempts": "1",
    "spark.speculation": "false",
    "spark.dynamicAllocation.enabled": "false",
}
_DEFAULTS = _AGAINST_REPEATS | {
    # Over TCP every Python task waits 40 ms for a delayed acknowledgement.
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.worker.reuse": "true",
    # A slot's tasks go to the slot's executor and nowhere else.
    "spark.shuffle.reduceLocality.enabled": "false",
    "spark.locality.wait": "30s",
    # Blocks are compact and short-lived.
    "spark.shuffle.compress": "false",
    "spark.shuffle.spill.compress": "false",
    "spark.shuffle.sort.bypassMergeThreshold": "1024",
    # Several jobs share the cores.
    "spark.scheduler.mode": "FAIR",
    # What Spark remembers of past epochs stays bounded.
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "200",
    "spark.ui.retainedTasks": "2000",
    "spark.ui.retainedDeadExecutors": "10",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.showConsoleProgress": "false",
    "spark.cleaner.periodicGC.interval": "10min",
    "spark.task.reaper.enabled": "false",
    "spark.python.task.killTimeout": "300ms",
    "spark.app.name": "Spry",
}
_LOCAL_DEFAULTS = {
    # Nothing outside this machine needs to reach a local Spark.
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
}

_LOG4J = """
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p spark %c{1}: %m%n
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
logger.tasks.name = org.apache.spark.scheduler.TaskSetManager
logger.tasks.level = off
logger.executor.name = org.apache.spark.executor.Executor
logger.executor.level = off
logger.dag.name = org.apache.spark.scheduler.DAGScheduler
logger.dag.level = off
logger.python.name = org.apache.spark.api.python
logger.python.level = off
"""


def get_spark_context(configuration: Configuration) -> tuple[Any, float]:
    """The Spark context to run in, and the seconds that its start took (0.0 if it was there)."""
    with _LOCK:
        try:
            from pyspark import SparkContext
        except ImportError:
            raise JobSubmissionError("PySpark is not installed: pip install 'pyspark>=4,<5'") from None
        active = SparkContext._active_spark_context
        if active is not None:
            _check_alive(active)
            _check_active(active, configuration)
            return active, 0.0
        check_java()
        started = time.monotonic()
        context = _start(configuration)
        return context, time.monotonic() - started


def _check_alive(context: Any) -> None:
    from py4j.protocol import Py4JError

    try:
        context._jsc.sc().isStopped()
    except (OSError, Py4JError) as error:
        raise JobSubmissionError(
            f"the Spark application of this program is gone, its Java process has died ({error}): "
            "start the program anew"
        ) from None


def _check_active(context: Any, configuration: Configuration) -> None:
    """A Spark application that is there is taken as it is, if slots can live in it."""
    conf = context.getConf()
    if conf.get("spark.python.worker.reuse", "true").lower() == "false":
        raise JobSubmissionError(
            "the active Spark application has spark.python.worker.reuse=false, but a slot lives in a Python "
            "worker that is used again: start the session without that setting"
        )
    risky = [key for key, wanted in _AGAINST_REPEATS.items() if _differs(context, conf.get(key), wanted)]
    if risky:
        warnings.warn(
            "the Spark application may run a task of a slot twice, which then fails the job: start it with "
            + ", ".join(f"{key}={_AGAINST_REPEATS[key]}" for key in risky),
            stacklevel=2,
        )
    given = {key: value for key, value in configuration.to_dict().items() if key.startswith("spark.")}
    ignored = [key for key, value in given.items() if conf.get(key) != value]
    if ignored:
        warnings.warn(
            f"Spark is running already, so these settings have no effect: {', '.join(sorted(ignored))}", stacklevel=2
        )


def _differs(context: Any, value: str | None, wanted: str) -> bool:
    """Whether a setting is not as wanted. Local Spark never repeats a task."""
    if context.master.startswith("local"):
        return False
    return value != wanted if wanted == "1" else value is not None and value.lower() != wanted


def release_thread() -> None:
    """The calling thread is done with Spark: give its connection to the JVM back."""
    from pyspark.util import InheritableThread

    cleaner = getattr(InheritableThread, "_clean_py4j_conn_for_current_thread", None)
    if cleaner is not None:
        cleaner()


def _start(configuration: Configuration) -> Any:
    from pyspark import SparkConf, SparkContext

    python = configuration.get(PythonOptions.PYTHON_EXECUTABLE) or sys.executable
    os.environ.setdefault("PYSPARK_PYTHON", python)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    conf = SparkConf()
    given = {key: value for key, value in configuration.to_dict().items() if key.startswith("spark.")}
    master = given.get("spark.master") or conf.get("spark.master") or configuration.get(SpryOptions.SPARK_MASTER)
    defaults = dict(_DEFAULTS)
    if master.startswith("local"):
        defaults |= _LOCAL_DEFAULTS
        if "spark.driver.host" not in given:
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    conf.set("spark.master", master)
    for key, value in defaults.items():
        conf.setIfMissing(key, value)
    for key, value in given.items():
        conf.set(key, value)
    _quiet_logging(conf)
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        context = SparkContext(conf=conf)
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise JobSubmissionError(f"Spark did not start at master '{master}': {reason}") from error
    finally:
        # Spark's handler would kill all epochs at Ctrl-C; ours lets jobs close their functions.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupt)
    logging.getLogger("py4j").setLevel(logging.ERROR)
    return context


def _quiet_logging(conf: Any) -> None:
    """Spark's own account of failures would drown ours; it logs errors only, unless the user says otherwise."""
    key = "spark.driver.extraJavaOptions"
    options = conf.get(key, "")
    if "log4j" in options or conf.get("spark.log.level") or os.environ.get("SPARK_CONF_DIR"):
        return
    handle, path = tempfile.mkstemp(prefix="spry-log4j2-", suffix=".properties")
    with os.fdopen(handle, "w") as file:
        file.write(_LOG4J)
    atexit.register(lambda: Path(path).unlink(missing_ok=True))
    conf.set(key, f"-Dlog4j2.configurationFile=file:{path} {options}".strip())
