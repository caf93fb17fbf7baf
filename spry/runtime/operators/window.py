"""Windows: which of the window operators runs a description."""

from __future__ import annotations

from spry.common.operators import WindowOperator
from spry.common.optional_methods import has_method
from spry.common.plan import OperatorPlan
from spry.common.triggers import EventTimeTrigger, ProcessingTimeTrigger
from spry.common.window_assigners import (
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from spry.runtime.context import SubtaskContext
from spry.runtime.state.backends import uses_rocksdb
from spry.runtime.windows.aligned import RunningAlignedWindowOperator
from spry.runtime.windows.base import RunningWindowBase
from spry.runtime.windows.fold import create_fold
from spry.runtime.windows.general import RunningGeneralWindowOperator
from spry.runtime.windows.panes import RunningPaneWindowOperator
from spry.runtime.windows.sessions import RunningSessionWindowOperator

__all__ = ["create"]

_WINDOWS_WORTH_SHARING = 8
"""From so many windows per element on, overlapping windows share panes."""

_ALIGNED: dict[type, type] = {
    TumblingEventTimeWindows: EventTimeTrigger,
    SlidingEventTimeWindows: EventTimeTrigger,
    TumblingProcessingTimeWindows: ProcessingTimeTrigger,
    SlidingProcessingTimeWindows: ProcessingTimeTrigger,
}
_SESSIONS: dict[type, type] = {
    EventTimeSessionWindows: EventTimeTrigger,
    DynamicEventTimeSessionWindows: EventTimeTrigger,
}


def create(plan: OperatorPlan, context: SubtaskContext) -> RunningWindowBase:
    """The quickest operator that follows Flink's rules for this assigner, trigger and evictor."""
    description = plan.description
    assert isinstance(description, WindowOperator)
    assigner, trigger = type(description.assigner), type(description.trigger)
    if description.evictor is None:
        # The quickest keep windows in memory, which has to do for panes: of these there are few.
        in_memory = context.batch or not uses_rocksdb(context.services.job.configuration)
        if _SESSIONS.get(assigner) is trigger and in_memory:
            return RunningSessionWindowOperator(plan, context)
        if _ALIGNED.get(assigner) is trigger:
            if shares_panes(description):
                return RunningPaneWindowOperator(plan, context)
            if in_memory:
                return RunningAlignedWindowOperator(plan, context)
    return RunningGeneralWindowOperator(plan, context)


def shares_panes(description: WindowOperator) -> bool:
    """Whether windows overlap so much that each element is put into one pane, and windows are made of panes."""
    assigner = description.assigner
    return (
        type(assigner) is SlidingEventTimeWindows
        and assigner.size >= _WINDOWS_WORTH_SHARING * assigner.slide
        and description.aggregation is not None
        and create_fold(description.aggregation).can_merge
        and not has_method(description.function, "clear")
    )
