"""Damaged files: a sentence or a result, never anything else, and never for long."""

import os
import time
from pathlib import Path

import fuzzing
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SEEDS = fuzzing.seeds()


@pytest.mark.parametrize(("suffix", "data"), SEEDS, ids=[f"{i}{suffix}" for i, (suffix, _) in enumerate(SEEDS)])
def test_what_is_damaged_can_be_read_before(tmp_path: Path, suffix: str, data: bytes) -> None:
    path = tmp_path / f"whole{suffix}"
    path.write_bytes(data)
    assert fuzzing.read(path) == "read"


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(SEEDS), st.binary(max_size=40), st.integers(0, 2**16), st.integers(0, 400))
def test_bytes_put_into_a_file_are_refused_in_a_sentence(tmp_path: Path, file, new: bytes, at: int, cut: int) -> None:
    suffix, data = file
    here = at % (len(data) + 1)
    path = tmp_path / f"damaged{suffix}"
    path.write_bytes(data[:here] + new + data[here + cut :])
    start = time.process_time()
    assert fuzzing.read(path) in {"read", "refused"}
    assert time.process_time() - start < fuzzing.MOST_SECONDS


@settings(deadline=None, max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**63))
def test_damaged_files_are_refused_in_a_sentence(tmp_path: Path, seed: int) -> None:
    suffix, data = fuzzing.files_of(seed, SEEDS)
    path = tmp_path / f"damaged{suffix}"
    path.write_bytes(data)
    assert fuzzing.read(path) in {"read", "refused"}


@pytest.mark.skipif("XENGINE_FUZZ_SECONDS" not in os.environ, reason="XENGINE_FUZZ_SECONDS tells how long to fuzz")
@pytest.mark.timeout(0)
def test_long() -> None:
    assert fuzzing.run(float(os.environ["XENGINE_FUZZ_SECONDS"]), int(time.time())) == []
