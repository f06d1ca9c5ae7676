"""Retaining all: the fastest placement that fits without recomputing, or what is missing."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from problems import problems

from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Compute, Free, Status, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Parameter, Tensor
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.placement import unlimited_placement
from xengine_gui.solve.retain_all import RetainAll, retained_tries
from xengine_gui.solve.working_set import single_operator_proof

MIB = 2**20


def chain(limit_bytes: int | None, host_bytes: int | None = None) -> Problem:
    """Three operators on a gpu, a mebibyte each, all read by the last; the host holds and runs what it must, slowly."""
    gpu, both = (Implementation(1000, MIB, "fast"), Implementation(1500, 0, "lean")), (Implementation(9000),)
    return Problem(
        name="chain",
        devices=(Device("gpu", "gpu", limit_bytes), Device("host", "cpu", host_bytes)),
        operators=tuple(
            Operator(name, "x", Phase.FORWARD, inputs, (output,), parameters, costs={"gpu": gpu, "host": both})
            for name, inputs, output, parameters in (
                ("a", (), "t0", ("w",)),
                ("b", ("t0",), "t1", ()),
                ("c", ("t0", "t1"), "t2", ()),
            )
        ),
        tensors=tuple(Tensor(f"t{i}", MIB) for i in range(3)),
        parameters=(Parameter("w", MIB),),
        links=(Link("gpu", "host", 10**9), Link("host", "gpu", 10**9)),
    )


def planned(problem: Problem):
    plan = RetainAll().plan(problem, SolveContext())
    assert verify(plan).ok or not plan.has_events
    return plan


def test_with_room_everything_runs_once_by_the_fastest_way_and_is_freed_after_its_last_use():
    plan = planned(chain(5 * MIB))
    assert plan.status is Status.FEASIBLE
    assert plan.total_ns == 3000
    assert plan.peak_bytes["gpu"] == 5 * MIB
    kinds = [type(event) for event in plan.events]
    assert kinds == [Compute, Compute, Compute, Free, Free, Free]


def test_an_implementation_with_less_workspace_is_taken_where_the_fastest_does_not_fit():
    plan = planned(chain(4 * MIB))
    assert plan.total_ns == 4500
    assert {event.implementation for event in plan.events if isinstance(event, Compute)} == {"lean"}


def test_the_other_device_is_taken_where_the_fast_one_is_too_small():
    plan = planned(chain(3 * MIB))
    assert plan.total_ns == 27_000
    assert {event.device for event in plan.events if isinstance(event, Compute)} == {"host"}


def test_what_is_missing_is_told_by_operator_device_and_bytes_and_no_proof_claimed():
    problem = chain(None)
    wide = replace(
        problem,
        devices=(Device("gpu", "gpu", 7 * MIB // 2),),
        links=(),
        operators=tuple(
            replace(o, costs={"gpu": (Implementation(1000),)}, inputs=("t0",) if o.name == "b" else o.inputs)
            for o in (
                problem.operators[0],
                problem.operators[1],
                replace(problem.operators[2], inputs=("t1",)),
                Operator("d", "x", Phase.FORWARD, ("t0", "t2"), (), costs={}),
            )
        ),
    )
    plan = planned(wide)
    assert plan.status is Status.UNKNOWN
    assert "'gpu'" in plan.explanation
    assert "'c'" in plan.explanation
    assert "512 KiB" in plan.explanation


def test_an_operator_that_fits_nowhere_is_a_proof():
    plan = planned(chain(2 * MIB, 2 * MIB))
    assert plan.status is Status.INFEASIBLE
    for word in ("'c'", "t0 1.00 MiB, t1 1.00 MiB, t2 1.00 MiB", "'gpu'", "'host'", "3.00 MiB", "1.00 MiB are missing"):
        assert word in plan.explanation


def test_parameters_of_operators_that_run_nowhere_else_count_in_the_proof():
    problem = chain(4 * MIB - 1, 4 * MIB - 1)
    only_gpu = tuple(replace(o, costs={"gpu": (Implementation(1000),)}) for o in problem.operators)
    assert single_operator_proof(problem.indexed) is None
    proof = single_operator_proof(replace(problem, operators=only_gpu).indexed)
    assert proof is not None
    assert proof.working_sets[0].missing_bytes == 1
    assert "1 byte is missing" in proof.sentence(problem)


@given(problem=problems(max_operators=6))
@settings(deadline=None, max_examples=60)
def test_nothing_is_computed_twice(problem):
    plan = planned(problem)
    computed = [event.operator for event in plan.events if isinstance(event, Compute)]
    assert len(computed) == len(set(computed))
    assert plan.has_events or plan.explanation
    if plan.has_events:
        assert computed == [operator.name for operator in problem.operators]


@given(problem=problems(max_operators=6, limits=False, connected=True))
@settings(deadline=None, max_examples=60)
def test_without_limits_it_is_the_best_placement(problem):
    plan = planned(problem)
    placement = unlimited_placement(problem.indexed)
    transfers = [event for event in plan.events if isinstance(event, Transfer)]
    assert plan.has_events
    assert plan.total_ns >= placement.total_ns
    if len(problem.devices) < 3:
        assert plan.total_ns == placement.total_ns
    assert len(transfers) <= len(problem.tensors) * max(0, len(problem.devices) - 1)


@pytest.mark.parametrize("limit", [0, MIB])
def test_the_proof_holds_for_exactly_what_does_not_fit(limit):
    problem = Problem(
        name="one",
        devices=(Device("gpu", "", limit),),
        operators=(Operator("a", "x", Phase.FORWARD, (), ("t",), costs={"gpu": (Implementation(1),)}),),
        tensors=(Tensor("t", MIB),),
    )
    assert (single_operator_proof(problem.indexed) is None) == (limit == MIB)


def test_after_a_stop_there_is_one_try_at_most():
    problem = chain(5 * MIB, 5 * MIB)
    assert len(retained_tries(problem)) > 1
    assert len(retained_tries(problem, lambda: True)) == 1
