"""DTR's simulator: the paper's heuristics, its linear chain, and every rule of a plan."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import problems
from problems_fixed import chain_problem, training_chain

from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Drop, Run
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.formulations.one_device import OneDevice, on_one_device
from xengine_gui.solve.online import neighbourhood, simulator
from xengine_gui.solve.online.heuristics import DTR, DTR_EQ, DTR_LOCAL, HEURISTICS, LRU, MSPS, SIZE, Heuristic
from xengine_gui.solve.online.neighbourhood import EvictedClasses, EvictedPaths, adjacent_tensors
from xengine_gui.solve.online.simulator import GivenUpError, Limits, Simulated, Why, simulated

every_heuristic = pytest.mark.parametrize("heuristic", HEURISTICS, ids=lambda h: h.key)


def side(problem: Problem) -> OneDevice:
    one = on_one_device(problem.indexed, 0)
    assert one is not None
    return one


def outcome(one: OneDevice, heuristic: Heuristic, *, eager: bool) -> tuple[Simulated | None, Why | None]:
    try:
        return simulated(one, Limits(), heuristic, eager=eager), None
    except GivenUpError as error:
        return None, error.why


def run_count(problem: Problem, heuristic: Heuristic) -> int:
    steps = simulated(side(problem), Limits(), heuristic).steps
    assert replay_steps(problem.indexed, steps).valid
    return sum(isinstance(step, Run) for step in steps)


def loose_tensors(*tensors: tuple[int, int], limit_bytes: int) -> Problem:
    """Tensors of the given sizes, each made in the given time from nothing; the last operators read each of them."""
    made = [
        Operator(f"make{i}", "x", Phase.FORWARD, (), (f"t{i}",), costs={"gpu": (Implementation(time_ns),)})
        for i, (_, time_ns) in enumerate(tensors)
    ]
    read = [
        Operator(f"read{i}", "x", Phase.BACKWARD, (f"t{i}",), (), costs={"gpu": (Implementation(1),)})
        for i in range(len(tensors))
    ]
    return Problem(
        name="loose",
        devices=(Device("gpu", "gpu", limit_bytes),),
        operators=(*made, *read),
        tensors=tuple(Tensor(f"t{i}", size) for i, (size, _) in enumerate(tensors)),
    )


def first_evicted(problem: Problem, heuristic: Heuristic) -> str:
    steps = simulated(side(problem), Limits(), heuristic).steps
    return problem.tensors[next(step.tensor for step in steps if isinstance(step, Drop))].name


@pytest.mark.parametrize("length", [25, 100, 400])
@pytest.mark.parametrize("heuristic", [DTR, DTR_EQ], ids=lambda h: h.key)
def test_a_linear_chain_in_two_roots_of_its_length_takes_linear_time(length, heuristic):
    """Theorem 3.1 of the paper: N layers forwards and backwards in memory 2⌈√N⌉ take O(N) operations."""
    problem = training_chain(length, 100 * 2 * math.ceil(math.sqrt(length)))
    assert 2 * length < run_count(problem, heuristic) <= 4 * length


def test_without_the_evicted_neighbourhood_the_same_chain_takes_more_than_linear_time():
    growth = {
        heuristic: run_count(training_chain(400, 4000), heuristic) / run_count(training_chain(100, 2000), heuristic)
        for heuristic in (DTR, DTR_LOCAL, LRU)
    }
    assert growth[DTR] < 4.5
    assert growth[DTR_LOCAL] > 6
    assert growth[LRU] > 6


def test_each_heuristic_evicts_what_its_formula_says():
    problem = loose_tensors((4, 900), (9, 300), (5, 100), (3, 100), (1, 0), limit_bytes=21)
    # At 1400 ns the fifth does not fit; each was last touched when it was made.
    ages = {"t0": 500, "t1": 200, "t2": 100, "t3": 0}
    cost = {"t0": 900, "t1": 300, "t2": 100, "t3": 100}
    size = {"t0": 4, "t1": 9, "t2": 5, "t3": 3}
    assert first_evicted(problem, LRU) == max(ages, key=ages.__getitem__) == "t0"
    assert first_evicted(problem, SIZE) == max(size, key=size.__getitem__) == "t1"
    assert first_evicted(problem, MSPS) == min(cost, key=lambda t: cost[t] / size[t]) == "t2"
    for heuristic in (DTR, DTR_EQ, DTR_LOCAL):
        least = min(cost, key=lambda t: cost[t] / size[t] / (ages[t] + 1))
        assert first_evicted(problem, heuristic) == least == "t1"


def test_the_evicted_neighbourhood_protects_what_others_would_need():
    chain = chain_problem(None, length=6)
    parents, children = adjacent_tensors(chain.indexed)
    resident = bytearray([1] * 6)
    paths = EvictedPaths(parents, children, [1, 2, 4, 8, 16, 32], resident, downwards=True)
    before = EvictedPaths(parents, children, [1, 2, 4, 8, 16, 32], resident, downwards=False)
    classes = EvictedClasses(parents, children, [1, 2, 4, 8, 16, 32], resident)
    for tensor in range(6):
        for around in (paths, before, classes):
            around.put(tensor)
    for tensor in (1, 2, 4):
        resident[tensor] = 0
        for around in (paths, before, classes):
            around.evict(tensor)
    assert [paths.sums()[t] for t in (0, 3, 5)] == [6, 22, 16]
    assert [before.sums()[t] for t in (0, 3, 5)] == [0, 6, 16]
    assert [classes.sums()[t] for t in (0, 3, 5)] == [6, 22, 16]
    resident[2] = 1
    for around in (paths, before, classes):
        around.restore(2)
    assert [paths.sums()[t] for t in (0, 2, 3)] == [2, 2, 16]
    assert [before.sums()[t] for t in (0, 2, 3)] == [0, 2, 0]
    # Classes are not split, so t3 still stands next to the class that t2 has left.
    assert [classes.sums()[t] for t in (0, 2, 3)] == [2, 2, 16]


@given(problem=problems(max_operators=8, max_devices=1), data=st.data())
@settings(deadline=None, max_examples=40)
def test_the_sums_that_are_kept_are_those_of_a_fresh_look(problem, data):
    indexed = problem.indexed
    if not indexed.tensor_count:
        return
    parents, children = adjacent_tensors(indexed)
    cost = [2**t for t in range(indexed.tensor_count)]
    resident = bytearray([1] * indexed.tensor_count)
    kept = EvictedPaths(parents, children, cost, resident, downwards=True)
    for tensor in range(indexed.tensor_count):
        kept.put(tensor)
    for tensor in data.draw(st.lists(st.integers(0, indexed.tensor_count - 1), max_size=12)):
        resident[tensor] ^= 1
        (kept.restore if resident[tensor] else kept.evict)(tensor)
        sums = kept.sums()
        for here in np.flatnonzero(np.frombuffer(resident, dtype=np.uint8)):
            wanted = _evicted_from(here, parents, resident) | _evicted_from(here, children, resident)
            assert sums[here] == sum(cost[t] for t in wanted)


def _evicted_from(start, ways, resident):
    found, stack = set(), [start]
    while stack:
        for tensor in ways[stack.pop()]:
            if not resident[tensor] and tensor not in found:
                found.add(tensor)
                stack.append(tensor)
    return found


@every_heuristic
@given(problem=problems(max_operators=7, max_devices=2), eager=st.booleans())
@settings(deadline=None, max_examples=40)
def test_what_is_simulated_keeps_every_rule(heuristic, problem, eager):
    for device in range(len(problem.devices)):
        one = on_one_device(problem.indexed, device)
        if one is None:
            continue
        found, why = outcome(one, heuristic, eager=eager)
        if found is None:
            assert one.room_bytes is not None
            assert why is Why.NO_ROOM
            continue
        replay = replay_steps(problem.indexed, found.steps)
        assert replay.valid, replay.mistakes
        assert replay.total_ns >= sum(one.time_ns)
        assert found.eviction_count or replay.total_ns == sum(one.time_ns)


@given(problem=problems(max_operators=7, max_devices=1, limits=False))
@settings(deadline=None, max_examples=40)
def test_with_room_for_all_nothing_is_computed_twice(problem):
    found = simulated(side(problem), Limits(), DTR)
    assert [step.operator for step in found.steps if isinstance(step, Run)] == list(range(len(problem.operators)))
    assert not found.eviction_count


def test_what_must_not_be_recomputed_stays_until_memory_is_short_and_what_was_made_of_it_is_there():
    """A mask that only its reader wants: freed when the room is needed, and the reader is then never run again."""
    names = {"mask": (), "dropped": ("mask",), "wide": ("dropped",), "end": ("dropped", "wide")}
    problem = Problem(
        name="mask",
        devices=(Device("gpu", "gpu", 30),),
        operators=tuple(
            Operator(n, "x", Phase.FORWARD, i, (n,), recomputable=n != "mask", costs={"gpu": (Implementation(1),)})
            for n, i in names.items()
        ),
        tensors=tuple(Tensor(n, 10) for n in names),
    )
    for heuristic in HEURISTICS:
        assert run_count(problem, heuristic) == 4
    assert any(step == Drop(0, 0) for step in simulated(side(problem), Limits(), DTR).steps)


def test_a_result_that_nothing_wants_is_freed_when_its_operator_runs_again_for_another():
    both = Operator("both", "x", Phase.FORWARD, (), ("a", "b"), costs={"gpu": (Implementation(1),)})
    rest = [("use b", ("b",), "c"), ("big", ("c",), "d"), ("after", ("d",), "e"), ("use a", ("a", "e"), "f")]
    problem = Problem(
        name="two results",
        devices=(Device("gpu", "gpu", 40),),
        operators=(
            both,
            *(Operator(n, "x", Phase.FORWARD, i, (o,), costs={"gpu": (Implementation(9),)}) for n, i, o in rest),
        ),
        tensors=tuple(Tensor(n, s) for n, s in (("a", 10), ("b", 10), ("c", 10), ("d", 25), ("e", 10), ("f", 10))),
        keep=("a",),
    )
    assert run_count(problem, SIZE) == 6


def test_thrashing_is_given_up(monkeypatch):
    """In three tensors a chain of n needs (n + 1)(n + 2)/2 forwards: 1/4 as often as there are operators, times n."""
    assert run_count(training_chain(60, 300), DTR_EQ) > 15 * 120
    monkeypatch.setattr(simulator, "_FREE_RUNS", 0)
    for heuristic in (DTR_EQ, LRU):
        with pytest.raises(GivenUpError) as error:
            simulated(side(training_chain(100, 300)), Limits(), heuristic)
        assert error.value.why is Why.THRASHING


def test_a_heuristic_whose_bookkeeping_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(simulator, "_MOST_LOOKS", 1000)
    monkeypatch.setattr(neighbourhood, "_HEED_EVERY", 100)
    with pytest.raises(GivenUpError) as error:
        simulated(side(training_chain(60, 300)), Limits(), DTR)
    assert error.value.why is Why.COSTLY


def test_a_stop_and_a_ceiling_end_a_simulation():
    one = side(training_chain(30, 600))
    with pytest.raises(GivenUpError) as stopped:
        simulated(one, Limits(should_stop=lambda: True), DTR)
    assert stopped.value.why is Why.STOPPED
    with pytest.raises(GivenUpError) as slower:
        simulated(one, Limits(below_ns=600), DTR)
    assert slower.value.why is Why.SLOWER


def test_too_little_room_is_told_with_the_operator():
    with pytest.raises(GivenUpError) as error:
        simulated(side(chain_problem(150)), Limits(), DTR)
    assert (error.value.why, error.value.operator) == (Why.NO_ROOM, 1)


def test_workspace_counts_as_memory():
    problem = training_chain(6, 400)
    wide = replace(
        problem,
        operators=tuple(replace(o, costs={"gpu": (Implementation(10, 100),)}) for o in problem.operators),
    )
    assert run_count(wide, DTR) == run_count(training_chain(6, 300), DTR) > run_count(problem, DTR)
