from __future__ import annotations

from typing import Any

import pytest

from spry.common.configuration import Configuration
from spry.common.execution_config import ExecutionConfig
from spry.common.options import PipelineOptions


def test_defaults_are_those_of_flink() -> None:
    config = ExecutionConfig()
    assert config.get_parallelism() == ExecutionConfig.PARALLELISM_DEFAULT == -1
    assert config.get_max_parallelism() == -1
    assert config.get_auto_watermark_interval() == 200
    assert config.get_latency_tracking_interval() == 0
    assert config.get_task_cancellation_interval() == 30_000
    assert config.get_task_cancellation_timeout() == 180_000
    assert config.is_closure_cleaner_enabled()
    assert config.has_auto_generated_uids_enabled()
    assert not config.is_object_reuse_enabled()
    assert not config.is_use_snapshot_compression()
    assert not config.has_generic_types_disabled()
    assert not config.is_force_kryo_enabled()
    assert not config.is_force_avro_enabled()
    assert config.get_global_job_parameters() == {}
    assert config.get_default_kryo_serializer_classes() == {}
    assert config.get_registered_kryo_types() == config.get_registered_pojo_types() == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("auto_watermark_interval", 0),
        ("latency_tracking_interval", 50),
        ("parallelism", 7),
        ("max_parallelism", 256),
        ("task_cancellation_interval", 5),
        ("task_cancellation_timeout", 6),
        ("global_job_parameters", {"a": "b,c:d"}),
    ],
)
def test_what_is_set_is_given(name: str, value: Any) -> None:
    config = ExecutionConfig()
    assert getattr(config, f"set_{name}")(value) is config
    assert getattr(config, f"get_{name}")() == value


@pytest.mark.parametrize(
    ("name", "query", "opposite"),
    [
        ("closure_cleaner", "is_closure_cleaner_enabled", False),
        ("force_kryo", "is_force_kryo_enabled", False),
        ("force_avro", "is_force_avro_enabled", False),
        ("generic_types", "has_generic_types_disabled", True),
        ("auto_generated_uids", "has_auto_generated_uids_enabled", False),
        ("object_reuse", "is_object_reuse_enabled", False),
    ],
)
def test_switches(name: str, query: str, opposite: bool) -> None:
    config = ExecutionConfig()
    for _ in range(2):
        assert getattr(config, f"enable_{name}")() is config
        assert getattr(config, query)() is not opposite
        assert getattr(config, f"disable_{name}")() is config
        assert getattr(config, query)() is opposite


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("parallelism", 0, "at least 1"),
        ("parallelism", 2.0, "at least 1"),
        ("max_parallelism", 0, "from 1 to 32768"),
        ("max_parallelism", 32769, "from 1 to 32768"),
        ("auto_watermark_interval", -1, "not negative"),
        ("task_cancellation_timeout", 1.5, "milliseconds"),
    ],
)
def test_mistakes(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(ExecutionConfig(), f"set_{name}")(value)


def test_it_is_a_view_of_the_configuration() -> None:
    configuration = Configuration().set_string("pipeline.object-reuse", "true")
    config = ExecutionConfig(configuration)
    assert config.is_object_reuse_enabled()
    config.set_auto_watermark_interval(7)
    assert configuration.get(PipelineOptions.AUTO_WATERMARK_INTERVAL).to_millis() == 7
    configuration.set_integer("parallelism.default", 3)
    assert config.get_parallelism() == 3
    config.set_parallelism(ExecutionConfig.PARALLELISM_DEFAULT)
    assert not configuration.contains_key("parallelism.default")


def test_equality() -> None:
    assert ExecutionConfig() == ExecutionConfig()
    assert hash(ExecutionConfig()) == hash(ExecutionConfig())
    assert ExecutionConfig().set_parallelism(2) != ExecutionConfig()
    assert ExecutionConfig().disable_closure_cleaner() != ExecutionConfig()


def test_global_job_parameters_become_texts() -> None:
    assert ExecutionConfig().set_global_job_parameters({"a": 1}).get_global_job_parameters() == {"a": "1"}


def test_classes_and_serializers_are_kept() -> None:
    config = ExecutionConfig()
    assert config.add_default_kryo_serializer("a.Shape", "a.ShapeSerializer") is config
    assert config.register_type_with_kryo_serializer("a.Circle", "a.CircleSerializer") is config
    assert config.register_kryo_type("a.Line").register_kryo_type("a.Circle") is config
    assert config.register_pojo_type("a.Point").register_pojo_type("a.Point") is config
    assert config.get_default_kryo_serializer_classes() == {"a.Shape": "a.ShapeSerializer"}
    assert config.get_registered_types_with_kryo_serializer_classes() == {"a.Circle": "a.CircleSerializer"}
    assert config.get_registered_kryo_types() == ["a.Circle", "a.Line"]
    assert config.get_registered_pojo_types() == ["a.Point"]
