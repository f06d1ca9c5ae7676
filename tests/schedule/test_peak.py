"""The peak without recomputation is that of a plan that computes everything once, and the published one."""

import re
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from problems import problems

from xengine_gui.model.plan import Drop, Run, Step
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.schedule.peak import one_device_peak_bytes
from xengine_gui.schedule.replay import replay_steps


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems(max_devices=1, limits=False))
def test_it_is_the_peak_of_computing_everything_once(problem: Problem) -> None:
    # A parameter that no operator uses takes memory nowhere.
    assume(problem.operators)
    indexed = problem.indexed
    steps: list[Step] = []
    for o in range(indexed.operator_count):
        ways = indexed.implementations[o][0]
        steps.append(Run(0, o, min(range(len(ways)), key=lambda j: ways[j].time_ns)))
        later = {t for u in range(o + 1, indexed.operator_count) for t in indexed.inputs[u]} | indexed.keep
        steps += [Drop(0, t) for t in {*indexed.inputs[o], *indexed.outputs[o]} - later]
    found = replay_steps(indexed, steps)
    assert found.valid
    assert one_device_peak_bytes(problem, problem.devices[0].name) == found.peak_bytes[0]


def test_it_is_the_peak_that_the_shared_instances_tell(shared_folder: Path) -> None:
    told = re.compile(r"one-device peak (\d+) bytes")
    files = sorted((shared_folder / "instances" / "derived").glob("*.json"))
    assert files
    for path in files:
        problem = read_problem(path)
        expected = told.search(problem.notes)
        assert expected is not None
        assert one_device_peak_bytes(replace(problem, notes="")) == int(expected[1]), path.name
