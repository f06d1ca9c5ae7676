"""MONeT's formulation: implementations mixed as brute force mixes them, known optima, and what it may not claim."""

import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import training_chain

from xengine_gui.errors import InputError
from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Compute, Plan, Run, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import problem_to_json, read_problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.formulations import monet_strategy as module
from xengine_gui.solve.formulations.monet_device import MonetDevice, backward_from, monet_device
from xengine_gui.solve.formulations.monet_start import monet_start
from xengine_gui.solve.formulations.monet_strategy import Monet
from xengine_gui.solve.formulations.one_device import on_one_device
from xengine_gui.solve.formulations.strategy import Checkmate
from xengine_gui.solve.judge import planned

EXACT = SolveOptions(gap_ratio=0.0, time_limit_s=100.0)


def plan_of(problem: Problem) -> Plan:
    plan = Monet().plan(problem, SolveContext(EXACT))
    if plan.has_events:
        assert verify(plan, problem).ok, verify(plan, problem).broken
    else:
        assert plan.explanation.endswith(".")
    return plan


def side_of(problem: Problem, device: int = 0) -> MonetDevice | None:
    one = on_one_device(problem.indexed, device)
    return None if one is None else monet_device(one, backward_from(problem))


def stages_of(steps: list[Step]) -> list[tuple[int, int]]:
    """The stage and the operator of each run."""
    stage, pairs = 0, []
    for step in steps:
        if isinstance(step, Run):
            pairs.append((stage, step.operator))
            stage += step.operator == stage
    return pairs


def two_convolutions(limit_bytes: int) -> Problem:
    """Two convolutions, forwards and backwards, each by a fast way with workspace or a slow one without."""

    def conv(fast_ns: int, lean_ns: int) -> tuple[Implementation, ...]:
        return Implementation(fast_ns, 15, "winograd"), Implementation(lean_ns, 0, "direct")

    rows: tuple[tuple[str, Phase, tuple[str, ...], str, tuple[Implementation, ...]], ...] = (
        ("conv1", Phase.FORWARD, (), "a1", conv(10, 25)),
        ("relu", Phase.FORWARD, ("a1",), "r1", (Implementation(3),)),
        ("conv2", Phase.FORWARD, ("r1",), "a2", conv(10, 25)),
        ("loss", Phase.LOSS, ("a2",), "g2", (Implementation(1),)),
        ("conv2/grad", Phase.BACKWARD, ("r1", "g2"), "d1", conv(20, 50)),
        ("relu/grad", Phase.BACKWARD, ("a1", "d1"), "e1", (Implementation(3),)),
        ("conv1/grad", Phase.BACKWARD, ("e1",), "d0", conv(20, 50)),
    )
    return Problem(
        name="two convolutions",
        devices=(Device("gpu", "gpu", limit_bytes),),
        operators=tuple(Operator(n, "x", p, i, (o,), costs={"gpu": c}) for n, p, i, o, c in rows),
        tensors=tuple(Tensor(row[3], 10) for row in rows),
    )


@pytest.mark.parametrize(
    ("limit_bytes", "total_ns", "ways"),
    [
        (30, 167, ["winograd direct", "direct", "direct", "direct"]),
        (35, 107, ["winograd winograd", "winograd", "direct", "winograd"]),
        (45, 77, ["winograd winograd", "winograd", "winograd", "winograd"]),
        (55, 67, ["winograd", "winograd", "winograd", "winograd"]),
    ],
)
def test_implementations_are_mixed_as_brute_force_mixes_them(
    limit_bytes: int, total_ns: int, ways: list[str], exact_search: ModuleType
) -> None:
    """Per limit the optimum, and by what conv1, conv2, conv2/grad and conv1/grad run, in the order of their runs."""
    problem = two_convolutions(limit_bytes)
    plan = plan_of(problem)
    assert plan.total_ns == total_ns == exact_search.search(problem_to_json(problem))["optimum_ns"]
    runs = [(e.operator, e.implementation) for e in plan.events if isinstance(e, Compute)]
    convolutions = ("conv1", "conv2", "conv2/grad", "conv1/grad")
    assert [" ".join(str(way) for name, way in runs if name == convolution) for convolution in convolutions] == ways


def test_who_knows_one_way_per_operator_finds_no_plan_where_a_mix_is_needed() -> None:
    assert not Checkmate().plan(two_convolutions(30), SolveContext(EXACT)).has_events


def test_known_optima_of_one_device_are_proved_also_with_several_implementations(shared_folder: Path) -> None:
    proved = 0
    for path in sorted((shared_folder / "instances" / "tiny").glob("*.json")):
        problem = read_problem(path)
        if Monet().supports(problem):
            continue
        known = json.loads(path.read_text(encoding="utf-8"))["known"]["serial_optimum_ns"]
        plan = plan_of(problem)
        if known is None:
            assert not plan.has_events, path.name
        elif plan.lower_bound_ns is not None:
            assert (plan.status, plan.total_ns, plan.lower_bound_ns) == (Status.OPTIMAL, known, known), path.name
            proved += 1
        else:
            assert not plan.has_events or plan.total_ns >= known, path.name
    assert proved == 18


def test_only_the_forward_pass_runs_again_and_only_in_the_backward_pass() -> None:
    chain = training_chain(6, 400)
    phases = (Phase.FORWARD,) * 6 + (Phase.BACKWARD,) * 6
    told = replace(chain, operators=tuple(replace(o, phase=p) for o, p in zip(chain.operators, phases, strict=True)))
    plan = plan_of(told)
    runs = [e.operator for e in plan.events if isinstance(e, Compute)]
    assert runs[:6] == [f"f{i}" for i in range(6)]
    assert all(runs.count(f"b{i}") == 1 for i in range(6))
    assert plan.total_ns == plan_of(chain).total_ns
    # The same total, but what was shown is only that no plan of this kind is faster.
    assert (plan.status, plan.lower_bound_ns) == (Status.FEASIBLE, None)
    assert "of MONeT's kind" in plan.explanation
    assert plan_of(chain).status is Status.OPTIMAL


@given(problem=problems(max_operators=6, max_devices=2))
@settings(deadline=None, max_examples=40)
def test_random_problems_keep_every_rule_and_no_bound_is_wrong(problem: Problem) -> None:
    if Monet().supports(problem):
        with pytest.raises(InputError, match="no device alone can run every operator"):
            planned(Monet(), problem, SolveContext(EXACT))
        return
    plan = plan_of(problem)
    if len(problem.devices) > 1 or backward_from(problem) is not None:
        assert plan.lower_bound_ns is None
    if plan.status is Status.OPTIMAL:
        other = Checkmate().plan(problem, SolveContext(EXACT))
        assert (other.total_ns or plan.total_ns or 0) >= (plan.lower_bound_ns or 0)


@given(problem=problems(max_operators=7, max_devices=1))
@settings(deadline=None, max_examples=80)
def test_the_first_plan_keeps_every_rule_and_the_model_s_pairs(problem: Problem) -> None:
    side = side_of(problem)
    assert side is not None
    assert side.run_count == len(side.runs) == len(set(side.runs))
    assert side.use_count == sum(len(side.ways[o]) for _, o in side.runs if len(side.ways[o]) > 1)
    start = monet_start(side, lambda: False)
    if start is None:
        assert side.room_bytes is not None
        return
    assert replay_steps(problem.indexed, start).valid
    assert set(stages_of(start)) <= set(side.runs)


@given(problem=problems(max_operators=7, max_devices=1, limits=False))
@settings(deadline=None, max_examples=20)
def test_without_a_limit_everything_runs_once_by_its_fastest_way(problem: Problem) -> None:
    assert plan_of(problem).total_ns == sum(min(r.time_ns for r in ways[0]) for ways in problem.indexed.implementations)


def test_the_first_plan_recomputes_in_little_memory() -> None:
    chain = training_chain(30, 1200)
    phases = (Phase.FORWARD,) * 30 + (Phase.BACKWARD,) * 30
    told = replace(chain, operators=tuple(replace(o, phase=p) for o, p in zip(chain.operators, phases, strict=True)))
    side = side_of(told)
    assert side is not None
    start = monet_start(side, lambda: False)
    assert start is not None
    assert 600 < replay_steps(told.indexed, start).total_ns <= 900
    assert monet_start(side, lambda: True) is None


def test_a_stop_ends_it_without_a_plan() -> None:
    stop = threading.Event()
    stop.set()
    plan = Monet().plan(two_convolutions(30), SolveContext(EXACT, stop=stop))
    assert plan.status is Status.UNKNOWN
    assert "not proved" in plan.explanation


def test_what_is_too_large_is_declined_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CHOICES", 9)
    with pytest.raises(InputError, match="for 7 operators its model has 18 choices, more than 9"):
        planned(Monet(), two_convolutions(30), SolveContext(EXACT))


def test_too_little_room_is_no_proof() -> None:
    chain = training_chain(4, 300)
    told = replace(chain, operators=tuple(replace(o, phase=Phase.BACKWARD) for o in chain.operators))
    plan = plan_of(told)  # nothing is of the forward pass, so nothing may run again
    assert plan.status is Status.UNKNOWN
    assert "others may exist" in plan.explanation


def test_pyomo_is_loaded_only_to_plan() -> None:
    code = (
        "import sys; from problems_fixed import chain_problem\n"
        "from xengine_gui.solve.formulations.monet_strategy import Monet; Monet().supports(chain_problem())\n"
        "print([name for name in ('pyomo', 'highspy') if name in sys.modules])"
    )
    tests = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tests)!r})\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
