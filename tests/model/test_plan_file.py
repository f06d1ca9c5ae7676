"""Plan files: what is written is read back, and every mistake is named with its place."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems import problems_with_steps

from xengine_gui.errors import InputError
from xengine_gui.model.json_file import format_json
from xengine_gui.model.plan import Clock, Drop, Move, Plan, Run, Status, Step
from xengine_gui.model.plan_file import parse_plan, plan_to_json, read_plan, write_plan
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import parse_problem
from xengine_gui.schedule.finish import finished_plan, on_clock


def plan() -> Plan:
    """A plan with an event of every kind."""
    problem = parse_problem(
        {
            "format": "xengine-problem",
            "version": 1,
            "name": "toy",
            "devices": [{"name": "gpu"}, {"name": "cpu"}],
            "links": [{"source": "gpu", "destination": "cpu", "bandwidth_bytes_per_s": 10**9}],
            "tensors": [{"name": "x", "bytes": 10}],
            "operators": [
                {
                    "name": "a",
                    "inputs": [],
                    "outputs": ["x"],
                    "costs": {"gpu": [{"implementation": "direct", "time_ns": 7}]},
                }
            ],
        },
        "toy",
    )
    return finished_plan(problem, "test", [Run(0, 0), Run(0, 0), Move(0, 1, 0), Drop(0, 0)], lower_bound_ns=7)


def data() -> dict[str, Any]:
    value = json.loads(format_json(plan_to_json(plan())))
    assert isinstance(value, dict)
    return value


def mistakes(value: object) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        parse_plan(value, "plan.json")
    return caught.value.mistakes


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems_with_steps(), st.sampled_from(Clock), st.none() | st.integers(0, 2**70), st.sampled_from(["", "why"]))
def test_what_is_written_is_read_back(
    made: tuple[Problem, list[Step]], clock: Clock, bound: int | None, explanation: str
) -> None:
    problem, steps = made
    made_plan = finished_plan(
        problem, "test", steps, status=Status.OPTIMAL, lower_bound_ns=bound, runtime_s=0.1, explanation=explanation
    )
    made_plan = on_clock(made_plan, clock)
    assert parse_plan(json.loads(format_json(plan_to_json(made_plan))), "again") == made_plan


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.UNKNOWN])
def test_no_plan_is_written_and_read_back(tmp_path: Path, status: Status) -> None:
    nothing = Plan(plan().problem, "test", status, explanation="the limit is too low")
    write_plan(nothing, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == nothing


def test_the_file_has_the_words_of_the_format() -> None:
    written = data()
    assert [event["kind"] for event in written["events"]] == ["compute", "recompute", "transfer", "free"]
    assert written["events"][0] == {
        "kind": "compute",
        "operator": "a",
        "device": "gpu",
        "implementation": "direct",
        "start_ns": 0,
        "end_ns": 7,
    }
    assert written["gap"] == pytest.approx((24 - 7) / 24)
    assert "explanation" not in written


def test_a_problem_given_beside_takes_the_place_of_the_plan_s_own() -> None:
    written = data()
    del written["problem"]
    assert mistakes(written) == ("problem is missing (a plan without its problem needs the problem file beside it)",)
    assert parse_plan(written, "plan.json", plan().problem) == plan()


def test_all_mistakes_are_told_together() -> None:
    written = data()
    written["status"] = "fine"
    written["clock"] = 3
    written["total_ns"] = 1.5
    written["peak_bytes"]["gpu"] = "lots"
    written["events"][0].pop("start_ns")
    written["events"][1]["kind"] = "compile"
    written["events"][2].pop("source")
    written["events"][3]["end_ns"] += 1
    written["problem"]["tensors"][0]["bytes"] = None
    assert mistakes(written) == (
        "problem.tensors[0].bytes must be a whole number, not null",
        "events[0].start_ns is missing",
        'events[1].kind must be compute, recompute, transfer or free, not "compile"',
        "events[2].source is missing",
        "events[3].end_ns must equal start_ns (24), since a free takes no time",
        'status must be one of optimal, feasible, infeasible, unknown, not "fine"',
        "clock must be one of serial, overlapped, not 3",
        "total_ns must be a whole number, not 1.5",
        'peak_bytes.gpu must be a whole number, not "lots"',
    )


def test_the_totals_may_be_absent() -> None:
    written = data()
    for key in ("total_ns", "lower_bound_ns", "peak_bytes", "runtime_s", "gap", "clock"):
        del written[key]
    expected = replace(plan(), total_ns=None, lower_bound_ns=None, peak_bytes={}, runtime_s=0.0)
    assert parse_plan(written, "plan.json") == expected


@pytest.mark.parametrize("kind", [[], {}, ["compute"], 1, True, None])
def test_an_event_of_no_kind_is_told(kind: object) -> None:
    value = data()
    value["events"][0]["kind"] = kind
    assert "events[0].kind must be compute, recompute, transfer or free" in mistakes(value)[0]


@pytest.mark.parametrize("key", ["runtime_s", "total_ns", "lower_bound_ns"])
def test_numbers_beyond_any_machine_are_refused(key: str) -> None:
    for number in (10**400, -(10**400), 2**128 + 1):
        (told,) = mistakes(data() | {key: number})
        assert told.startswith(f"{key} must be ")
        assert len(told) < 120
    assert parse_plan(data() | {key: 2**128}, "plan.json")
