from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import spry.common
from spry.common.config_options import ConfigOptions, ConfigurationError, ValueType
from spry.common.configuration import Configuration
from spry.common.execution_mode import RuntimeExecutionMode
from spry.common.options import (
    CoreOptions,
    ExecutionOptions,
    OptionGroup,
    PipelineOptions,
    ProgressMode,
    PythonOptions,
    SpryOptions,
    all_options,
    find_option,
    load_config_file,
    option_groups,
    reference,
    validate,
)
from spry.common.time import Duration

ROOT = Path(spry.common.__file__).parents[2]


def test_defaults() -> None:
    config = Configuration()
    assert config.get(ExecutionOptions.RUNTIME_MODE) is RuntimeExecutionMode.STREAMING
    assert config.get(PipelineOptions.MAX_PARALLELISM) == -1
    assert config.get(SpryOptions.EPOCH_TARGET_DURATION) == Duration.of_seconds(1)
    assert config.get(SpryOptions.EPOCH_INTERVAL) == Duration.of_millis(100)
    assert config.get(SpryOptions.EPOCH_IDLE_INTERVAL) == Duration.of_seconds(1)
    assert config.get(SpryOptions.EPOCH_KEEP_ALIVE) == Duration.of_seconds(20)
    assert config.get(SpryOptions.EPOCH_MAX_RECORDS) == 0
    assert config.get(SpryOptions.PROGRESS) is ProgressMode.AUTO
    assert config.get(SpryOptions.PROGRESS_INTERVAL) == Duration.of_seconds(5)
    assert config.get(SpryOptions.COLLECT_BUFFER_RECORDS) == 100_000
    assert config.get(SpryOptions.SPARK_MASTER) == "local[*]"
    assert config.get_optional(CoreOptions.DEFAULT_PARALLELISM) is None


def test_every_option_is_described_and_its_default_is_of_its_type() -> None:
    for option in all_options():
        assert option.description.endswith("."), option.key
        assert option.has_default_value() != bool(option.default_text), option.key
        if option.has_default_value():
            assert option.parse(option.default) == option.default
        assert find_option(option.key) is option


def test_keys_are_found_under_their_older_names() -> None:
    assert find_option("pipeline.operator-chaining") is PipelineOptions.OPERATOR_CHAINING
    config = Configuration().set_string("execution.buffer-timeout", "5 ms")
    assert config.get(ExecutionOptions.BUFFER_TIMEOUT) == Duration.of_millis(5)


def test_valid_configurations() -> None:
    validate(Configuration())
    Configuration.from_dict(
        {
            "parallelism.default": 4,
            "execution.runtime-mode": "BATCH",
            "python.files": "a.py,b.py",
            "pipeline.operator-chaining": "false",
            "spark.executor.memory": "1g",
            "user.anything": "x",
            "job.anything": 7,
        }
    ).validate()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("parallelism.default", "many", "the value 'many' of option 'parallelism.default' is not valid"),
        ("parallelism.default", "0", "at least 1"),
        ("execution.runtime-mode", "fast", "one of streaming, batch, automatic"),
        ("spry.epoch.interval", "soon", "a duration such as"),
        ("paralelism.default", "4", "'paralelism.default'; did you mean 'parallelism.default'"),
        ("spry.epoch.target-durations", "1 s", "'spry.epoch.target-duration'"),
        ("object-reuse", "true", "'pipeline.object-reuse'"),
        ("zzz", "1", "there is no option 'zzz'; options of your own begin with 'user.' or 'job.'"),
    ],
)
def test_invalid_configurations(key: str, value: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        validate(Configuration().set_string(key, value))
    assert message in str(caught.value)


def test_two_names_of_one_option() -> None:
    config = Configuration.from_dict(
        {"pipeline.operator-chaining": "true", "pipeline.operator-chaining.enabled": "false"}
    )
    with pytest.raises(ConfigurationError, match="set only one of them"):
        validate(config)


def test_a_key_cannot_be_registered_twice() -> None:
    before = len(option_groups())
    with pytest.raises(ValueError, match="registered already"):

        class Again(OptionGroup):
            """The parallelism once more."""

            OTHER = ConfigOptions.key("parallelism.default").int_type().default_value(1)

    assert len(option_groups()) == before
    assert find_option("parallelism.default") is CoreOptions.DEFAULT_PARALLELISM


def load(tmp_path: Path, text: str) -> Configuration:
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return load_config_file(path)


def test_config_files_may_be_flat_and_nested(tmp_path: Path) -> None:
    config = load(
        tmp_path,
        """
        # a comment
        parallelism.default: 4
        pipeline:
          name: caf\u00e9
          operator-chaining.enabled: false
          global-job-parameters:
            input: /data
            depth: {a: 1}
        execution:
          buffer-timeout:
            interval: 10 ms
        python.files: a.py,b.py
        spark.executor.memory: 1g
        user:
          list: [1, two]
        """,
    )
    config.validate()
    assert config.get(CoreOptions.DEFAULT_PARALLELISM) == 4
    assert config.get(PipelineOptions.NAME) == "caf\u00e9"
    assert config.get(PipelineOptions.OPERATOR_CHAINING) is False
    assert config.get(PipelineOptions.GLOBAL_JOB_PARAMETERS) == {"input": "/data", "depth": "a:1"}
    assert config.get(ExecutionOptions.BUFFER_TIMEOUT) == Duration.of_millis(10)
    assert config.get(PythonOptions.PYTHON_FILES) == ["a.py", "b.py"]
    assert config.get_string("spark.executor.memory", "") == "1g"
    assert config.get_string("user.list", "") == "1;two"


def test_an_empty_config_file(tmp_path: Path) -> None:
    assert load(tmp_path, "# nothing\n").key_set() == set()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "not valid YAML"),
        ("just text", "'key: value' lines"),
        ("a.b: 1\na:\n  b: 2", "sets option 'a.b' more than once"),
        ("a.b:", "gives option 'a.b' no value"),
    ],
)
def test_broken_config_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, text)
    assert message in str(caught.value)
    assert "config.yaml" in str(caught.value)


def test_reference() -> None:
    text = reference()
    lines = text.splitlines()
    for option in all_options():
        assert sum(line.startswith(f"| `{option.key}` |") for line in lines) == 1
    assert "## Pipeline" in lines
    assert any("| `512 mb` |" in line for line in lines)
    # Every row of a table has its four cells, whatever is written in them.
    rows = [line for line in lines if line.startswith("| ")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {5}


def test_reference_from_the_command_line() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "spry.common.options"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ran.stdout.strip() == reference().strip()
    assert ran.stderr == ""


def test_values_of_enums_are_shown_as_they_are_written() -> None:
    assert SpryOptions.PROGRESS.value_type is ValueType.ENUM
    assert SpryOptions.PROGRESS.expected() == "one of auto, live, log, none"
