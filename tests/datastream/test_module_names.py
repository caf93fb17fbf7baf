from __future__ import annotations

import importlib

import pytest


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("common", "Configuration Duration JobStatus Row RowKind Time TypeInformation Types WatermarkStrategy"),
        ("common.typeinfo", "RowTypeInfo TupleTypeInfo TypeInformation Types"),
        ("common.watermark_strategy", "TimestampAssigner WatermarkStrategy"),
        ("datastream", "DataStream KeyedStream OutputTag RuntimeContext StreamExecutionEnvironment TimeDomain"),
        ("datastream", "CheckpointConfig CheckpointStorage CheckpointingMode CustomCheckpointStorage"),
        ("datastream", "CustomStateBackend EmbeddedRocksDBStateBackend ExternalizedCheckpointRetention"),
        ("datastream", "FileSystemCheckpointStorage HashMapStateBackend JobManagerCheckpointStorage"),
        ("datastream", "PredefinedOptions StateBackend CheckpointedFunction CheckpointListener ListCheckpointed"),
        ("datastream.checkpoint_config", "CheckpointConfig ExternalizedCheckpointCleanup"),
        ("datastream.checkpoint_storage", "CheckpointStorage CustomCheckpointStorage JobManagerCheckpointStorage"),
        ("datastream.checkpointing_mode", "CheckpointingMode"),
        ("datastream.data_stream", "CloseableIterator DataStream DataStreamSink KeyedStream"),
        ("datastream.externalized_checkpoint_retention", "ExternalizedCheckpointRetention"),
        ("datastream.functions", "KeyedProcessFunction MapFunction ProcessFunction RuntimeContext SourceFunction"),
        ("datastream.functions", "CheckpointedFunction CheckpointListener FunctionInitializationContext"),
        ("datastream.functions", "FunctionSnapshotContext ListCheckpointed OperatorStateStore"),
        ("datastream.output_tag", "OutputTag"),
        ("datastream.state", "ListStateDescriptor MapStateDescriptor ValueStateDescriptor"),
        ("datastream.state", "OperatorStateStore ReadOnlyBroadcastState StateTtlConfig"),
        ("datastream.state_backend", "EmbeddedRocksDBStateBackend HashMapStateBackend PredefinedOptions"),
        ("datastream.time_domain", "TimeDomain"),
        ("datastream.timerservice", "TimerService"),
        ("datastream.connectors", "Sink Source"),
        ("datastream.connectors.number_seq", "NumberSequenceSource"),
        ("metrics", "Counter Distribution Meter Metric MetricGroup"),
    ],
)
def test_what_programs_import_is_where_pyflink_has_it(module: str, names: str) -> None:
    found = importlib.import_module(f"spry.{module}")
    assert [name for name in names.split() if not hasattr(found, name)] == []
