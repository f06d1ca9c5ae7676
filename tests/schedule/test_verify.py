"""The judge agrees with the independent one, on good plans and on plans broken in every way."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems import problems_with_steps

from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Clock, Compute, Drop, Event, Free, Move, Plan, Run, Status, Step, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Parameter, Tensor
from xengine_gui.schedule.finish import finished_plan, on_clock
from xengine_gui.schedule.verify import Verdict, verify, verify_walked
from xengine_gui.schedule.walk import Walk

Judge = Callable[..., Mapping[str, Any]]
Mutation = Callable[[st.DataObject, Plan], Plan]

many = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


def some(data: st.DataObject, plan: Plan, kind: type[Event] | None = None) -> int | None:
    """The number of an event, of one kind where asked."""
    numbers = [i for i, event in enumerate(plan.events) if kind is None or isinstance(event, kind)]
    return data.draw(st.sampled_from(numbers)) if numbers else None


def with_event(plan: Plan, i: int, *events: Event) -> Plan:
    return replace(plan, events=(*plan.events[:i], *events, *plan.events[i + 1 :]))


def drop_event(data: st.DataObject, plan: Plan) -> Plan:
    i = some(data, plan)
    return plan if i is None else with_event(plan, i)


def duplicate_event(data: st.DataObject, plan: Plan) -> Plan:
    i = some(data, plan)
    return plan if i is None else with_event(plan, i, plan.events[i], plan.events[i])


def swap_events(data: st.DataObject, plan: Plan) -> Plan:
    i, j = some(data, plan), some(data, plan)
    if i is None or j is None:
        return plan
    return with_event(with_event(plan, i, plan.events[j]), j, plan.events[i])


def swap_neighbours(data: st.DataObject, plan: Plan) -> Plan:
    i = some(data, plan)
    if i is None or i + 1 == len(plan.events):
        return plan
    first, second = plan.events[i : i + 2]
    return replace(plan, events=(*plan.events[:i], second, first, *plan.events[i + 2 :]))


def change_name(data: st.DataObject, plan: Plan) -> Plan:
    """Another operator, tensor, device, implementation or kind, known or unknown."""
    i = some(data, plan)
    if i is None:
        return plan
    event = plan.events[i]
    devices = st.sampled_from([*(d.name for d in plan.problem.devices), "nowhere"])
    tensors = st.sampled_from([*(t.name for t in plan.problem.tensors), "nothing"])
    if isinstance(event, Compute):
        operators = st.sampled_from([*(o.name for o in plan.problem.operators), "nobody"])
        fields = {
            "operator": operators,
            "device": devices,
            "implementation": st.sampled_from([None, "direct", "winograd", "none such"]),
            "again": st.just(not event.again),
        }
    elif isinstance(event, Transfer):
        fields = {"tensor": tensors, "source": devices, "destination": devices}
    else:
        fields = {"tensor": tensors, "device": devices}
    field = data.draw(st.sampled_from(sorted(fields)))
    return with_event(plan, i, replace(event, **{field: data.draw(fields[field])}))


def change_time(data: st.DataObject, plan: Plan) -> Plan:
    i = some(data, plan)
    if i is None:
        return plan
    event, shift = plan.events[i], data.draw(st.sampled_from([-5, -1, 1, 5]))
    fields = {"start_ns": event.start_ns + shift}
    if not isinstance(event, Free):
        fields["end_ns"] = event.end_ns + shift
        if data.draw(st.booleans()):
            del fields[data.draw(st.sampled_from(sorted(fields)))]
    return with_event(plan, i, replace(event, **fields))


def delay_the_rest(data: st.DataObject, plan: Plan) -> Plan:
    i, shift = some(data, plan), data.draw(st.integers(1, 5))
    if i is None:
        return plan
    late = [
        replace(e, start_ns=e.start_ns + shift)
        if isinstance(e, Free)
        else replace(e, start_ns=e.start_ns + shift, end_ns=e.end_ns + shift)
        for e in plan.events[i:]
    ]
    total = plan.total_ns if plan.total_ns is None or data.draw(st.booleans()) else plan.total_ns + shift
    return replace(plan, events=(*plan.events[:i], *late), total_ns=total)


def add_free(data: st.DataObject, plan: Plan) -> Plan:
    i = some(data, plan)
    if i is None or not plan.problem.tensors:
        return plan
    tensor = data.draw(st.sampled_from(plan.problem.tensors)).name
    device = data.draw(st.sampled_from(plan.problem.devices)).name
    event = plan.events[i]
    time_ns = data.draw(st.sampled_from([event.start_ns, event.end_ns]))
    return with_event(plan, i, *data.draw(st.permutations([event, Free(tensor, device, time_ns)])))


def remove_free(data: st.DataObject, plan: Plan) -> Plan:
    i = some(data, plan, Free)
    return plan if i is None else with_event(plan, i)


def add_compute(data: st.DataObject, plan: Plan) -> Plan:
    """An operator once more at the end, on some device, as a compute or a recompute."""
    if not plan.problem.operators:
        return plan
    operator = data.draw(st.sampled_from(plan.problem.operators))
    device = data.draw(st.sampled_from(sorted(operator.costs)))
    way = operator.costs[device][0]
    end = max((e.end_ns for e in plan.events), default=0)
    again = data.draw(st.booleans())
    event = Compute(operator.name, device, end, end + way.time_ns, again, way.name)
    return replace(plan, events=(*plan.events, event), total_ns=end + way.time_ns, peak_bytes={})


def change_limit(data: st.DataObject, plan: Plan) -> Plan:
    device = data.draw(st.sampled_from(plan.problem.devices))
    limit = max(0, plan.peak_bytes.get(device.name, 0) + data.draw(st.sampled_from([-3, -1, 0, 1])))
    return replace(plan, problem=plan.problem.with_limit(device.name, limit))


def change_total(data: st.DataObject, plan: Plan) -> Plan:
    return replace(plan, total_ns=data.draw(st.sampled_from([None, (plan.total_ns or 0) + 1, 0])))


def change_peak(data: st.DataObject, plan: Plan) -> Plan:
    name = data.draw(st.sampled_from([*(d.name for d in plan.problem.devices), "nowhere"]))
    return replace(plan, peak_bytes={**plan.peak_bytes, name: plan.peak_bytes.get(name, 0) + 1})


def change_bound(data: st.DataObject, plan: Plan) -> Plan:
    return replace(plan, lower_bound_ns=(plan.total_ns or 0) + data.draw(st.integers(-2, 2)))


def change_clock(data: st.DataObject, plan: Plan) -> Plan:
    return replace(plan, clock=Clock.SERIAL if plan.clock is Clock.OVERLAPPED else Clock.OVERLAPPED)


def forbid_recompute(data: st.DataObject, plan: Plan) -> Plan:
    operators = tuple(replace(o, recomputable=False) for o in plan.problem.operators)
    return replace(plan, problem=replace(plan.problem, operators=operators))


def cut_links(data: st.DataObject, plan: Plan) -> Plan:
    cut = data.draw(st.sampled_from(["links", "transfers"]))
    return replace(plan, problem=replace(plan.problem, **{cut: ()}))


def keep_everything(data: st.DataObject, plan: Plan) -> Plan:
    return replace(plan, problem=replace(plan.problem, keep=tuple(t.name for t in plan.problem.tensors)))


def no_plan(data: st.DataObject, plan: Plan) -> Plan:
    return replace(plan, status=Status.INFEASIBLE, events=(), total_ns=None)


MUTATIONS: tuple[Mutation, ...] = (
    drop_event,
    duplicate_event,
    swap_events,
    swap_neighbours,
    change_name,
    change_time,
    delay_the_rest,
    add_free,
    remove_free,
    add_compute,
    change_limit,
    change_total,
    change_peak,
    change_bound,
    change_clock,
    forbid_recompute,
    cut_links,
    keep_everything,
    no_plan,
)


@many
@given(problems_with_steps(), st.sampled_from(Clock))
def test_good_plans_pass_both_judges(judge: Judge, made: tuple[Problem, list[Step]], clock: Clock) -> None:
    problem, steps = made
    plan = on_clock(finished_plan(problem, "test", steps, lower_bound_ns=0), clock)
    verdict, report = verify(plan), judge(plan)
    assert verdict.broken == ()
    assert report["ok"], report["broken"]
    assert (verdict.total_ns, verdict.work_ns) == (report["total_ns"], report["work_ns"])
    assert verdict.peak_bytes == report["peak_bytes"]
    assert (verdict.recompute_count, verdict.transfer_count) == (report["recomputes"], report["transfers"])


def verdict_on(plan: Plan) -> Verdict:
    """The verdict; by a walk along all events, where there is one, it is the same."""
    verdict, walk = verify(plan), Walk.of(plan)
    assert walk is None or verify_walked(plan, walk) == verdict
    return verdict


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutation: mutation.__name__)
@settings(many, max_examples=40)
@given(problems_with_steps(), st.sampled_from(Clock), st.data())
def test_broken_plans_are_judged_alike(
    judge: Judge, mutate: Mutation, made: tuple[Problem, list[Step]], clock: Clock, data: st.DataObject
) -> None:
    problem, steps = made
    broken = mutate(data, on_clock(finished_plan(problem, "test", steps), clock))
    verdict, report = verdict_on(broken), judge(broken)
    assert verdict.ok == report["ok"], (verdict.broken, report["broken"])
    assert bool(verdict.broken) != verdict.ok


@settings(many, max_examples=100)
@given(
    problems_with_steps(),
    st.sampled_from(Clock),
    st.lists(st.sampled_from(MUTATIONS), min_size=2, max_size=4),
    st.data(),
)
def test_plans_broken_in_several_ways_are_judged_alike(
    judge: Judge, made: tuple[Problem, list[Step]], clock: Clock, mutations: list[Mutation], data: st.DataObject
) -> None:
    problem, steps = made
    plan = on_clock(finished_plan(problem, "test", steps), clock)
    for mutate in mutations:
        plan = mutate(data, plan)
    verdict, report = verdict_on(plan), judge(plan)
    assert verdict.ok == report["ok"], (verdict.broken, report["broken"])


@many
@given(problems_with_steps(), problems_with_steps())
def test_a_plan_for_another_problem_is_judged_alike(
    judge: Judge, made: tuple[Problem, list[Step]], other: tuple[Problem, list[Step]]
) -> None:
    plan = finished_plan(*_planned(made))
    assert verify(plan, other[0]).ok == judge(plan, other[0])["ok"]


def _planned(made: tuple[Problem, list[Step]]) -> tuple[Problem, str, list[Step]]:
    return made[0], "test", made[1]


def two_devices(limit_bytes: int | None = None) -> Problem:
    """x on the gpu (10 ns, workspace 5 bytes), y from it on either device; weights of 7 bytes."""
    return Problem(
        name="two",
        devices=(Device("gpu", "gpu", limit_bytes), Device("cpu", "cpu")),
        operators=(
            Operator("make x", "Conv", Phase.FORWARD, (), ("x",), ("w",), costs={"gpu": (Implementation(10, 5),)}),
            Operator(
                "make y",
                "Relu",
                Phase.FORWARD,
                ("x",),
                ("y",),
                recomputable=False,
                costs={"gpu": (Implementation(3),), "cpu": (Implementation(20),)},
            ),
        ),
        tensors=(Tensor("x", 100), Tensor("y", 30)),
        parameters=(Parameter("w", 7),),
        links=(Link("gpu", "cpu", 10**9, 2),),
    )


def test_the_peak_holds_parameters_outputs_and_workspace() -> None:
    plan = finished_plan(two_devices(137), "test", [Run(0, 0), Run(0, 1)])
    verdict = verify(plan)
    assert verdict.ok
    assert verdict.peak_bytes == {"gpu": 7 + 100 + 30, "cpu": 0}
    assert verdict.total_ns == 13


def test_every_mistake_is_told_with_its_event() -> None:
    plan = finished_plan(two_devices(), "test", [Run(0, 0), Drop(0, 0), Move(0, 1, 0), Run(1, 1), Run(0, 1)])
    verdict = verify(replace(plan, problem=two_devices(50), total_ns=1, lower_bound_ns=1000, peak_bytes={"cpu": 1}))
    told = "\n".join(verdict.broken)
    assert "event 2: transfer of 'x' from 'gpu', where it is not" in told
    assert "event 4: operator 'make y' must not be recomputed" in told
    assert "event 4: operator 'make y' needs 'x' on 'gpu', where it is not" in told
    assert "device 'gpu' holds 112 bytes at event 0, 62 more than its limit of 50" in told
    assert "device 'cpu': the plan tells a peak of 1 bytes, but it is 130" in told
    assert "the plan tells a total of 1 ns" in told
    assert "the lower bound of 1000 ns is above the plan's own total" in told
    assert len(verdict.broken) == 7


def test_a_plan_without_events_says_why_it_does_not_pass() -> None:
    plan = Plan(two_devices(), "test", Status.INFEASIBLE, explanation="too small")
    assert verify(plan).broken[0] == "there is no plan to verify: the file says infeasible"


def test_workspace_is_given_back_before_the_next_allocation_of_the_same_instant() -> None:
    problem = two_devices(112 + 25)
    assert verify(finished_plan(problem, "test", [Run(0, 0), Run(0, 1)])).peak_bytes["gpu"] == 137
