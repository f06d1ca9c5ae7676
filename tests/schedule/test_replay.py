"""Replays of steps and of plans give the same levels, by the same rules as the judge."""

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems import problems, problems_with_steps

from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Clock, Drop, Move, Run, Step
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Parameter, Tensor
from xengine_gui.schedule.finish import finished_plan, on_clock
from xengine_gui.schedule.replay import Missing, Violation, replay, replay_steps
from xengine_gui.schedule.verify import verify

many = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


@many
@given(problems_with_steps())
def test_good_steps_replay_to_what_the_judge_finds(made: tuple[Problem, list[Step]]) -> None:
    problem, steps = made
    found = replay_steps(problem.indexed, steps)
    verdict = verify(finished_plan(problem, "test", steps))
    assert found.valid
    assert found.total_ns == verdict.work_ns
    assert list(found.peak_bytes) == list(verdict.peak_bytes.values())


@st.composite
def problems_with_any_steps(draw: st.DrawFn) -> tuple[Problem, list[Step]]:
    """A problem and steps that are possible one by one, but make no plan."""
    problem = draw(problems())
    indexed = problem.indexed
    devices, tensors = range(indexed.device_count), range(indexed.tensor_count)
    choices: list[Step] = [
        Run(d, o, j)
        for o in range(indexed.operator_count)
        for d in devices
        for j in range(len(indexed.implementations[o][d]))
    ]
    choices += [Drop(d, t) for d in devices for t in tensors]
    choices += [
        Move(a, b, t) for a in devices for b in devices for t in tensors if indexed.copy_ns(a, b, t) is not None
    ]
    return problem, draw(st.lists(st.sampled_from(choices), max_size=12)) if choices else []


@many
@given(problems_with_any_steps())
def test_any_steps_pass_the_replay_when_they_pass_the_judge(made: tuple[Problem, list[Step]]) -> None:
    problem, steps = made
    found = replay_steps(problem.indexed, steps)
    plan = replace(finished_plan(problem, "test", steps), peak_bytes={})
    assert found.valid == verify(plan).ok, (found, verify(plan).broken)


@many
@given(problems_with_steps())
def test_levels_are_those_of_the_memory_curve(made: tuple[Problem, list[Step]]) -> None:
    problem, steps = made
    found = replay_steps(problem.indexed, steps)
    curves = replay(finished_plan(problem, "test", steps)).memory
    for d, device in enumerate(problem.devices):
        levels = found.levels(d)
        assert levels.shape == (len(steps),)
        curve = curves[device.name]
        assert max(levels, default=curve.parameter_bytes) == curve.peak_bytes == found.peak_bytes[d]
        assert set(levels) <= set(range(curve.parameter_bytes, curve.peak_bytes + 1))


@many
@given(problems_with_steps(), st.sampled_from(Clock))
def test_the_curve_is_what_stays_and_workspaces_add_up_to(made: tuple[Problem, list[Step]], clock: Clock) -> None:
    problem, steps = made
    plan = on_clock(finished_plan(problem, "test", steps), clock)
    replayed = replay(plan)
    size = {t.name: t.size_bytes for t in problem.tensors}
    workspace = {
        (o.name, d, w.name): w.workspace_bytes for o in problem.operators for d, ws in o.costs.items() for w in ws
    }
    for device, curve in replayed.memory.items():
        assert list(curve.time_ns) == sorted(curve.time_ns)
        assert curve.time_ns[0] == 0
        assert curve.time_ns[-1] == replayed.total_ns
        assert max(curve.level_bytes) == curve.peak_bytes
        # Between two times of the curve nothing happens: its level is what is there in the middle.
        for start, end, level in zip(curve.time_ns, curve.time_ns[1:], curve.level_bytes, strict=False):
            if start == end:
                continue
            middle = (start + end) / 2
            held = sum(
                size[r.tensor]
                for r in replayed.residencies
                if r.device == device and r.start_ns < middle and (r.end_ns is None or middle < r.end_ns)
            )
            used = sum(
                workspace[e.operator, device, e.implementation]
                for e in plan.events
                if e.kind in ("compute", "recompute") and e.device == device and e.start_ns < middle < e.end_ns
            )
            assert level == curve.parameter_bytes + held + used


def chain() -> Problem:
    """a -> b on the gpu, 10 bytes each, 4 bytes of weights for b, 3 bytes of workspace for a; the gpu holds 20."""
    return Problem(
        name="chain",
        devices=(Device("gpu", "gpu", 20), Device("cpu", "cpu")),
        operators=(
            Operator("a", "Conv", Phase.FORWARD, (), ("a",), costs={"gpu": (Implementation(5, 3),)}),
            Operator("b", "Conv", Phase.FORWARD, ("a",), ("b",), ("w",), costs={"gpu": (Implementation(6),)}),
        ),
        tensors=(Tensor("a", 10), Tensor("b", 10)),
        parameters=(Parameter("w", 4),),
        links=(Link("gpu", "cpu", 10**9),),
    )


def test_a_violation_names_step_device_and_excess() -> None:
    found = replay_steps(chain().indexed, [Run(0, 0), Run(0, 1)])
    assert found.violations == (Violation(step=1, device=0, over_bytes=4),)
    assert found.parameter_bytes == (4, 0)
    assert found.peak_bytes == (24, 0)
    np.testing.assert_array_equal(found.levels(0), [17, 24])
    np.testing.assert_array_equal(found.levels(1), [0, 0])
    assert not found.fits


def test_missing_data_is_told_and_does_not_stop_the_replay() -> None:
    found = replay_steps(chain().indexed, [Run(0, 0), Drop(0, 0), Move(0, 1, 0), Run(0, 1)])
    assert found.missing == (Missing(2, 0, 0), Missing(3, 0, 0))
    assert found.total_ns == 5 + 10 + 6
    assert not found.valid


def test_a_stay_ends_with_its_free() -> None:
    steps: list[Step] = [Run(0, 0), Run(0, 1), Move(0, 1, 0), Drop(0, 0), Move(0, 1, 1)]
    replayed = replay(finished_plan(chain(), "test", steps))
    assert [(r.tensor, r.device, r.start_ns, r.end_ns, r.freed_by) for r in replayed.residencies] == [
        ("a", "gpu", 0, 21, 3),
        ("b", "gpu", 5, None, None),
        ("a", "cpu", 11, None, None),
        ("b", "cpu", 21, None, None),
    ]
    assert [r.tensor for r in replayed.resident_at("gpu", 21)] == ["b"]
