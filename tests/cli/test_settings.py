"""Where settings come from, and which of them wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from spry.cli.settings import CONF_DIR_VARIABLE, overrides
from spry.common.configuration import ConfigurationError
from spry.common.options import CoreOptions, PipelineOptions, ProgressMode, SpryOptions


@pytest.fixture(autouse=True)
def _no_conf_dir(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CONF_DIR_VARIABLE, raising=False)


def test_nothing_said_is_nothing_set() -> None:
    assert overrides().key_set() == set()


def test_definitions_win_over_the_file_and_p_over_both(tmp_path: Path) -> None:
    file = tmp_path / "conf.yaml"
    file.write_text("parallelism.default: 2\npipeline:\n  max-parallelism: 64\n  name: from file\n")
    config = overrides(str(file), ["parallelism.default=3", "pipeline.max-parallelism=256"], parallelism=4)
    assert config.get(CoreOptions.DEFAULT_PARALLELISM) == 4
    assert config.get(PipelineOptions.MAX_PARALLELISM) == 256
    assert config.get(PipelineOptions.NAME) == "from file"


def test_the_last_definition_wins() -> None:
    assert (
        overrides(definitions=["parallelism.default=3", "parallelism.default=5"]).get(CoreOptions.DEFAULT_PARALLELISM)
        == 5
    )


def test_an_older_name_is_the_same_option(tmp_path: Path) -> None:
    file = tmp_path / "conf.yaml"
    file.write_text("pipeline.operator-chaining: false\n")
    config = overrides(str(file), ["pipeline.operator-chaining.enabled=true"])
    assert config.get(PipelineOptions.OPERATOR_CHAINING) is True
    config.validate()


def test_the_value_may_hold_equals_signs_and_keys_of_others_are_kept() -> None:
    config = overrides(definitions=["spark.driver.extraJavaOptions=-Da=b", "user.text=x=y"])
    assert config.to_dict() == {"spark.driver.extraJavaOptions": "-Da=b", "user.text": "x=y"}


def test_conf_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text("parallelism.default: 7\n")
    monkeypatch.setenv(CONF_DIR_VARIABLE, str(tmp_path))
    assert overrides().get(CoreOptions.DEFAULT_PARALLELISM) == 7
    other = tmp_path / "other.yaml"
    other.write_text("pipeline.name: x\n")
    assert overrides(str(other)).to_dict() == {"pipeline.name": "x"}, "-c replaces the directory's file"


def test_conf_dir_without_a_file_is_a_mistake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONF_DIR_VARIABLE, str(tmp_path))
    with pytest.raises(ConfigurationError, match="SPRY_CONF_DIR"):
        overrides()


def test_progress() -> None:
    assert overrides(progress="log").get(SpryOptions.PROGRESS) is ProgressMode.LOG
    with pytest.raises(ConfigurationError, match=r"--progress loud: .*'loud'"):
        overrides(progress="loud")


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("parallelism.default", "-D parallelism.default: write -D key=value"),
        ("=3", "-D =3: write -D key=value"),
        ("parallelism.defalt=3", "did you mean 'parallelism.default'"),
        ("parallelism.default=many", "-D parallelism.default=many: the value 'many'"),
    ],
)
def test_mistakes_say_where_and_what(definition: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        overrides(definitions=[definition])
    assert message in str(caught.value)


def test_a_mistake_in_the_file_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "conf.yaml"
    file.write_text("no.such.option: 1\n")
    with pytest.raises(ConfigurationError, match=f"in {file}: there is no option 'no.such.option'"):
        overrides(str(file))
    with pytest.raises(ConfigurationError, match="No such file"):
        overrides(str(tmp_path / "missing.yaml"))
