from __future__ import annotations

import pickle

import pytest

from spry.common.job_execution_result import JobExecutionResult
from spry.common.job_id import JobID
from spry.common.job_status import JobStatus

HEX = "0123456789abcdef0123456789abcdef"


def test_job_ids() -> None:
    job_id = JobID(HEX)
    assert str(job_id) == job_id.to_hex_string() == HEX
    assert JobID(HEX.upper()) == job_id
    assert len({job_id, JobID(HEX), JobID.generate(), JobID.generate()}) == 3
    assert len(str(JobID.generate())) == 32
    assert pickle.loads(pickle.dumps(job_id)) == job_id


@pytest.mark.parametrize("text", ["", "12", HEX + "0", "g" * 32, HEX[:-1] + "\n"])
def test_no_job_ids(text: str) -> None:
    with pytest.raises(ValueError, match="32 hexadecimal digits"):
        JobID(text)


def test_which_states_are_final() -> None:
    final = {state.name for state in JobStatus if state.is_terminal_state()}
    final_everywhere = {state.name for state in JobStatus if state.is_globally_terminal_state()}
    assert final == {"FAILED", "CANCELED", "FINISHED", "SUSPENDED"}
    assert final_everywhere == {"FAILED", "CANCELED", "FINISHED"}
    assert [state.value for state in JobStatus] == list(range(10))


def test_results() -> None:
    result = JobExecutionResult(JobID(HEX), 1500, {"lines": 7, "bytes": [1]})
    assert result.get_job_id() == JobID(HEX)
    assert result.get_net_runtime() == 1500
    assert result.get_accumulator_result("lines") == 7
    assert result.get_accumulator_result("none") is None
    results = result.get_all_accumulator_results()
    results.clear()
    assert result.get_all_accumulator_results() == {"lines": 7, "bytes": [1]}
    assert result.is_job_execution_result()
    assert str(result) == f"Job {HEX} finished after 1500 ms.\n  bytes: [1]\n  lines: 7"
