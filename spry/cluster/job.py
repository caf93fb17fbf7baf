"""A job's slots on Spark: deploying them, and running epochs through them.

Spark keeps a pool of Python workers per distinct environment. A function that was wrapped while ``SPRY_SLOT`` named a
slot therefore always runs in that slot's worker process. One single-partition RDD per slot, united, is a stage; between
two levels there is a shuffle by target slot. What does not change from epoch to epoch is made once.
"""

from __future__ import annotations

import base64
import contextlib
import pickle
import re
import sys
import threading
from collections.abc import Iterator
from typing import Any

from spry.cluster.control import INTERRUPT, STOP, ControlServer
from spry.cluster.executors import Executor, executors, place_slots
from spry.cluster.names import slot_names
from spry.cluster.shipping import encode_job, ship_engine, ship_files
from spry.cluster.worker import COMMAND_PROPERTY, FOR_GOOD, CloseTask, DeployTask, LevelTask
from spry.common.errors import SlotLostError
from spry.common.plan import EpochCommand, JobPlan, SlotReport

__all__ = ["SparkJob"]

_WRAPPING = threading.Lock()
"""``SparkContext.environment`` belongs to all threads of the driver."""


class SparkJob:
    """One attempt of a job on Spark."""

    def __init__(self, context: Any, plan: JobPlan, requirements: str | None = None) -> None:
        self._context = context
        self._jvm = context._jvm
        self._plan = ship_files(context, plan)
        self._requirements = requirements
        self._control = _control_server(context)
        self._group = f"spry-{plan.job_id}-{plan.attempt}"
        self._slots = plan.slots
        self._broadcast: Any = None
        self._closing: Any = None
        self._pool = slot_names(context.applicationId)
        self._names: list[str] = []
        self._staying: set[str] = set()
        self.placement: list[Executor] = []

    # Deploying

    def deploy(self) -> list[SlotReport]:
        """Start a process per slot and open the functions in it."""
        with self._explained():
            return self._deploy()

    def _deploy(self) -> list[SlotReport]:
        ship_engine(self._context)
        available = executors(self._context, self._slots)
        self._names = self._pool.lease(self._slots)
        self.placement = place_slots(self._slots, available)
        self._pinned = not self._context.master.startswith("local")
        self._broadcast = self._context.broadcast(encode_job(self._plan, self._requirements))
        self._anchors = [self._anchor(executor) for executor in self.placement]
        slots = range(self._slots)
        # Made first: when some slots do not get as far as being open, those that do are closed all the same.
        self._closing = self._stage([(self._anchors[slot], CloseTask(self._plan.job_id, slot)) for slot in slots])
        address = self._control.address if self._control is not None else None
        tasks = [DeployTask(slot, self._broadcast, address) for slot in slots]
        reports = self._collect(
            self._stage([(self._anchors[slot], tasks[slot]) for slot in slots]), f"{self._plan.job_name}: deploying"
        )
        self._prepare_levels()
        return reports

    def _anchor(self, executor: Executor) -> Any:
        """A one-element RDD with the slot's executor as its preferred location."""
        context = self._context
        if not self._pinned:
            return context._jsc.parallelize([b""], 1).rdd()
        as_scala = self._jvm.scala.jdk.javaapi.CollectionConverters.asScala
        locations, elements = self._jvm.java.util.ArrayList(), self._jvm.java.util.ArrayList()
        locations.add(executor.location)
        elements.add(self._jvm.scala.Tuple2(bytearray(), as_scala(locations).toSeq()))
        return context._jsc.sc().makeRDD(as_scala(elements).toSeq(), self._bytes_tag())

    def _bytes_tag(self) -> Any:
        tag = getattr(getattr(self._jvm.scala.reflect, "ClassTag$"), "MODULE$")
        return tag.apply(self._jvm.java.lang.Class.forName("[B"))

    def _wrap(self, slot: int, task: Any) -> Any:
        """The task as a function of Spark's, bound to the slot's worker."""
        from pyspark.core.rdd import _wrap_function
        from pyspark.serializers import NoOpSerializer

        context = self._context
        with _WRAPPING:
            known, python = context.environment, context.pythonExec
            try:
                if context.master.startswith("local"):
                    # On this machine: the interpreter that runs the program, whatever 'python3' is.
                    context.pythonExec = sys.executable
                context.environment = {**known, "SPRY_SLOT": self._names[slot]}
                return _wrap_function(context, task, NoOpSerializer(), NoOpSerializer())
            finally:
                context.environment, context.pythonExec = known, python

    def _stage(self, parts: list[tuple[Any, Any]]) -> Any:
        """One stage: per slot a task over its input."""
        return self._union([self._python(rdd, self._wrap(slot, task)) for slot, (rdd, task) in enumerate(parts)])

    def _python(self, rdd: Any, function: Any) -> Any:
        return self._jvm.PythonRDD(rdd, function, False, False).asJavaRDD()

    def _union(self, rdds: list[Any]) -> Any:
        if len(rdds) == 1:
            return rdds[0]
        array = self._context._gateway.new_array(self._jvm.org.apache.spark.api.java.JavaRDD, len(rdds))
        for index, rdd in enumerate(rdds):
            array[index] = rdd
        return self._context._jsc.union(array)

    def _prepare_levels(self) -> None:
        levels, slots = self._plan.levels, range(self._slots)
        functions = [
            [self._wrap(slot, LevelTask(self._plan.job_id, slot, level, level == levels - 1)) for slot in slots]
            for level in range(levels)
        ]
        self._sources = self._union([self._python(self._anchors[slot], functions[0][slot]) for slot in slots])
        self._deeper = functions[1:]
        self._partitioner = self._jvm.PythonPartitioner(self._slots, 0)
        pruning = getattr(self._jvm.org.apache.spark.rdd, "PartitionPruningRDD$")
        self._prune = getattr(pruning, "MODULE$").create
        empty = getattr(getattr(self._jvm.scala.collection.immutable, "Set$"), "MODULE$").empty()
        self._only = [getattr(empty, "$plus")(slot) for slot in slots]
        self._first_pairs = self._pairs(self._sources) if levels > 1 else None

    def _pairs(self, stage: Any) -> Any:
        return self._jvm.PairwiseRDD(stage.rdd()).asJavaPairRDD()

    # Epochs

    def run_epoch(self, command: EpochCommand, description: str) -> list[SlotReport]:
        """Run one epoch through all levels; gives the slots' reports, in order of slot."""
        with self._explained():
            return self._run_epoch(command, description)

    def _run_epoch(self, command: EpochCommand, description: str) -> list[SlotReport]:
        stage = self._sources
        pairs = self._first_pairs
        shuffles = []
        for functions in self._deeper:
            if pairs is None:
                pairs = self._pairs(stage)
            shuffled = pairs.partitionBy(self._partitioner)
            shuffles.append(shuffled)
            blocks = self._jvm.PythonRDD.valueOfPair(shuffled).rdd()
            stage = self._union([self._python(self._input(slot, blocks), f) for slot, f in enumerate(functions)])
            pairs = None
        text = base64.b64encode(pickle.dumps(command, 5)).decode()
        self._context.setLocalProperty(COMMAND_PROPERTY, text)
        try:
            return self._collect(stage, description)
        finally:
            self._clean(shuffles)

    def _input(self, slot: int, blocks: Any) -> Any:
        """The part of a shuffle that is for one slot, on the slot's executor."""
        part = self._prune(blocks, self._only[slot])
        if not self._pinned:
            return part
        # A product with the one-element anchor takes over the anchor's location.
        tag = self._bytes_tag()
        pairs = part.cartesian(self._anchors[slot], tag)
        return self._jvm.org.apache.spark.api.java.JavaPairRDD.fromRDD(pairs, tag, tag).keys().rdd()

    def _collect(self, stage: Any, description: str) -> list[SlotReport]:
        """Run a Spark job; its results are the slots' reports.

        They come over py4j. Spark's own way for Python, a socket per job, leaves the socket's path in the JVM for ever.
        """
        context = self._context
        context.setLocalProperty("spark.jobGroup.id", self._group)
        context.setLocalProperty("spark.job.description", description)
        context.setLocalProperty("spark.job.interruptOnCancel", "true")
        payloads = [bytes(payload) for payload in stage.collect()]
        reports: list[SlotReport] = [pickle.loads(payload) for payload in payloads]
        reports.sort(key=lambda report: report.slot)
        if len(reports) != self._slots:
            raise SlotLostError(f"{self._slots} slots should have reported, {len(reports)} did")
        return reports

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Whatever Spark does not do, because of a slot or because it is gone itself, is a SlotLostError."""
        from py4j.protocol import Py4JError

        try:
            yield
        except Py4JError as error:
            raise self._explain(error) from None
        except (OSError, EOFError) as error:
            raise SlotLostError(f"Spark's Java process is gone: {error}") from None
        except AttributeError:
            if self._context._jsc is not None:
                raise
            raise SlotLostError("Spark was stopped") from None

    def _explain(self, error: Exception) -> SlotLostError:
        """Why a Spark job failed, in a line. Users' errors do not come this way: slots report them."""
        text = str(error)
        cause = getattr(error, "java_exception", None)
        if cause is not None:
            text = str(cause.getMessage() or cause.toString())
        elif "Trace:" not in text:  # Java has neither answered nor said what went wrong.
            return SlotLostError(f"Spark's Java process is gone: {text}")
        if re.search("SparkContext (was shut down|has been shutdown)|stopped SparkContext", text):
            return SlotLostError("Spark was stopped while the job was running")
        if "cancelled" in text:
            return SlotLostError("the epoch was cancelled")
        _, lost, reason = text.partition("ExecutorLostFailure")
        if lost:
            return SlotLostError(f"an executor died: {reason.strip().splitlines()[0][:500]}")
        if "Python worker exited unexpectedly" in text or "EOFException" in text:
            task = re.search(r"Task (\d+) in stage", text)
            who = f"the process of slot {task[1]}{self._inhabitants(int(task[1]))}" if task else "a slot's process"
            return SlotLostError(f"{who} died: it was killed, maybe for want of memory, or native code in it crashed")
        return SlotLostError(f"Spark failed the epoch: {text[:2000]}")

    def _inhabitants(self, slot: int) -> str:
        names = [
            f"'{vertex.name}' {slot - vertex.slot_base + 1}/{vertex.parallelism}"
            for vertex in self._plan.vertices
            if 0 <= slot - vertex.slot_base < vertex.parallelism
        ]
        return f" (with {', '.join(names)})" if names else ""

    def _clean(self, shuffles: list[Any]) -> None:
        """Remove an epoch's shuffle files now; Spark would wait for a garbage collection."""
        try:
            cleaner = self._context._jsc.sc().cleaner()
            for shuffled in shuffles if cleaner.isDefined() else ():
                dependency = shuffled.rdd().dependencies().head()
                cleaner.get().doCleanupShuffle(dependency.shuffleId(), False)
        except Exception:
            return  # Spark is going down; its own cleaning takes over.

    # Ending

    def close(self, for_good: bool = True) -> list[SlotReport]:
        """Close the functions in all slots that are still there, and end their processes.

        ``for_good`` unless the job is deployed anew: nothing is left on the slots' machines then.
        """
        if self._closing is None:
            return []
        self._context.setLocalProperty(COMMAND_PROPERTY, FOR_GOOD if for_good else "")
        with self._explained():
            reports = self._collect(self._closing, f"{self._plan.job_name}: closing")
        self._staying = {self._names[report.slot] for report in reports if report.process_stays}
        return reports

    def stop_reading(self) -> None:
        """Let sources stop. Safe to call from any thread, as is ``interrupt``."""
        if self._control is not None:
            self._control.send(STOP)

    def interrupt(self) -> None:
        """Let users' functions unwind."""
        if self._control is not None:
            self._control.send(INTERRUPT)

    def cancel(self) -> None:
        """Break off whatever runs now. Safe to call from any thread."""
        try:
            self._context._jsc.sc().cancelJobGroup(self._group)
        except Exception:
            return  # Spark is gone, and with it whatever ran.

    def release(self) -> None:
        """The attempt is over: give back what it holds."""
        for name in self._names:
            self._pool.give_back(name, name in self._staying)
        self._names = []
        if self._control is not None:
            self._control.close()
        if self._broadcast is not None:
            try:
                self._broadcast.destroy()
            except Exception:
                return  # Spark is gone.
            self._broadcast = None


def _control_server(context: Any) -> ControlServer | None:
    """The driver's end of the control line, where Spark's own driver is reached; None if it cannot listen there."""
    host = bind = "127.0.0.1"
    if not context.master.startswith("local"):
        host = context.getConf().get("spark.driver.host", host)
        bind = context.getConf().get("spark.driver.bindAddress", host)
    try:
        return ControlServer(host, bind)
    except OSError:
        return None
