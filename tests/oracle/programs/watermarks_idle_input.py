"""An input that stays silent holds event time back, unless it is idle: then timers of the other fire before the end."""

import time

from pyflink.common import Duration, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction

SLOWLY = True


class Self(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Remind(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value + 1)
        yield f"{value}"

    def on_timer(self, timestamp, ctx):
        over = ctx.timer_service().current_watermark() > 1_000_000
        yield f"timer {timestamp} {'at the end' if over else 'on the way'}"


def wait(record):
    time.sleep(1.0)
    return record


def define(env):
    quick = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Self())
    # In PyFlink, with_idleness() after with_timestamp_assigner() forgets the assigner.
    patient = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_millis(1500))
    patient = patient.with_timestamp_assigner(Self())
    slow = env.from_collection([10, 20, 30, 40, 50, 60, 70]).map(wait).start_new_chain().set_parallelism(1)
    once = env.from_collection([5, 5000]).map(lambda n: time.sleep(0 if n == 5 else 7.5) or n).start_new_chain()
    moving = slow.assign_timestamps_and_watermarks(quick).set_parallelism(1)
    silent = once.set_parallelism(1).assign_timestamps_and_watermarks(patient).set_parallelism(1)
    return moving.union(silent).filter(lambda n: n in (10, 20)).key_by(lambda n: 0).process(Remind())
