"""A source of one's own: the days of some years, month by month.

The enumerator runs once, on the driver: it knows the *splits* (months) and gives one to each reader that asks. A
reader runs in every subtask: it turns the splits it has into records, a batch at a time. A split holds its position
(the next day), so a reader's state is simply its splits.
"""

from calendar import monthrange
from collections import deque
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from spry.common import WatermarkStrategy
from spry.datastream import StreamExecutionEnvironment
from spry.datastream.connectors.base import (
    Boundedness,
    InputStatus,
    ReaderOutput,
    Source,
    SourceReader,
    SourceReaderContext,
    SplitEnumerator,
    SplitEnumeratorContext,
)


@dataclass(frozen=True)
class Month:
    """A split: a month, from some day on."""

    year: int
    month: int
    next_day: int = 1

    def split_id(self) -> str:
        return f"{self.year}-{self.month:02}"


class MonthEnumerator(SplitEnumerator[Month, list[Month]]):
    """Hands out months, each to the reader that asks next."""

    def __init__(self, context: SplitEnumeratorContext[Month], months: list[Month]) -> None:
        self._context = context
        self._months = deque(months)

    def add_reader(self, subtask: int) -> None:
        """Nothing to do: readers ask when they are ready."""

    def handle_split_request(self, subtask: int, requester_host: str | None) -> None:
        if self._months:
            self._context.assign_split(self._months.popleft(), subtask)
        else:
            self._context.signal_no_more_splits(subtask)

    def add_splits_back(self, splits: list[Month], subtask: int) -> None:
        self._months.extendleft(reversed(splits))

    def snapshot_state(self, checkpoint_id: int) -> list[Month]:
        return list(self._months)


class MonthReader(SourceReader[Month]):
    """Reads one month at a time."""

    def __init__(self, context: SourceReaderContext) -> None:
        self._context = context
        self._month: Month | None = None
        self._asked = False
        self._no_more = False

    def add_splits(self, splits: list[Month]) -> None:
        [self._month] = splits
        self._asked = False

    def notify_no_more_splits(self) -> None:
        self._no_more = True

    def poll_next(self, output: ReaderOutput) -> InputStatus:
        month = self._month
        if month is None:
            if self._no_more:
                return InputStatus.END_OF_INPUT
            if not self._asked:
                self._asked = True
                self._context.send_split_request()
            return InputStatus.NOTHING_AVAILABLE
        last = monthrange(month.year, month.month)[1]
        stop = min(last, month.next_day + output.max_records - 1)
        for day in range(month.next_day, stop + 1):
            date = datetime(month.year, month.month, day, tzinfo=UTC)
            output.collect(date.date(), int(date.timestamp() * 1000))
        if stop < last:
            self._month = replace(month, next_day=stop + 1)
            return InputStatus.MORE_AVAILABLE
        self._month = None
        return InputStatus.MORE_AVAILABLE

    def snapshot_state(self, checkpoint_id: int) -> list[Month]:
        return [self._month] if self._month is not None else []


class DaysSource(Source[Month, list[Month]]):
    """All days of the years from first to last."""

    def __init__(self, first_year: int, last_year: int) -> None:
        self._months = [Month(y, m) for y in range(first_year, last_year + 1) for m in range(1, 13)]

    def get_boundedness(self) -> Boundedness:
        return Boundedness.BOUNDED

    def create_enumerator(self, context: SplitEnumeratorContext[Month]) -> MonthEnumerator:
        return MonthEnumerator(context, self._months)

    def restore_enumerator(self, context: SplitEnumeratorContext[Month], checkpoint: list[Month]) -> MonthEnumerator:
        return MonthEnumerator(context, checkpoint)

    def create_reader(self, context: SourceReaderContext) -> MonthReader:
        return MonthReader(context)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    strategy = WatermarkStrategy.for_monotonous_timestamps()
    days = env.from_source(DaysSource(2024, 2027), strategy, "days")
    fridays = days.filter(lambda day: day.day == 13 and day.weekday() == 4).map(lambda day: day.isoformat())
    with fridays.execute_and_collect("fridays") as found:
        for day in sorted(found):
            print("Friday the 13th:", day)


if __name__ == "__main__":
    main()
