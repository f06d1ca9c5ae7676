"""DELTA: what is swapped, what is recomputed, and what a host can and cannot take."""

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from problems_fixed import training_chain

from xengine_gui.model.device import Device, Link, TransferTime
from xengine_gui.model.operator import Implementation
from xengine_gui.model.plan import Drop, Move, Run, Step
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.formulations.one_device import on_one_device
from xengine_gui.solve.online.heuristics import HEURISTICS
from xengine_gui.solve.online.simulator import GivenUpError, Limits, Why, simulated
from xengine_gui.solve.online.swapping import FILTER, SINGLE_FILTER, Host, host_for, simulated_with_host
from xengine_gui.solve.working_set import working_sets

HOST_BYTES = st.none() | st.integers(0, 40)


def with_host(problem: Problem, copy_ns: int, host_bytes: int | None = None) -> Problem:
    """The problem beside a device that computes nothing; every copy of 100 bytes takes `copy_ns`."""
    links = tuple(Link(a, b, 100 * 10**9, copy_ns - 1) for a, b in (("gpu", "host"), ("host", "gpu")))
    return replace(problem, devices=(*problem.devices, Device("host", "storage", host_bytes)), links=links)


def steps_of(problem: Problem) -> list[Step]:
    host = host_for(problem.indexed, 0)
    one = on_one_device(problem.indexed, 0)
    assert host is not None
    assert one is not None
    steps = simulated_with_host(one, Limits(), host).steps
    replay = replay_steps(problem.indexed, steps)
    assert replay.valid, (replay.mistakes, replay.violations)
    return steps


def counts(steps: list[Step]) -> tuple[int, int]:
    """Runs and transfers."""
    return sum(isinstance(s, Run) for s in steps), sum(isinstance(s, Move) for s in steps)


def test_cheap_transfers_are_made_and_nothing_is_computed_again():
    runs, moves = counts(steps_of(with_host(training_chain(8, 500), copy_ns=1)))
    assert runs == 16
    # Five tensors fit; of eight forwards, with a gradient and its input beside them, a few must go and come back.
    assert moves % 2 == 0
    assert 0 < moves <= 2 * 5


def test_dear_transfers_are_not_made():
    with_dear_links = counts(steps_of(with_host(training_chain(8, 500), copy_ns=10_000)))
    assert with_dear_links[0] > 16
    assert with_dear_links[1] == 0


def test_a_tensor_that_must_not_be_recomputed_is_swapped_however_dear_that_is():
    chain = training_chain(8, 500)
    fixed = replace(chain, operators=tuple(replace(o, recomputable=False) for o in chain.operators))
    runs, moves = counts(steps_of(with_host(fixed, copy_ns=10_000)))
    assert runs == 16
    assert moves > 0


def test_a_host_that_is_too_small_takes_what_it_can():
    large, small = (steps_of(with_host(training_chain(12, 400), 1, host)) for host in (None, 200))
    assert counts(large)[0] == 24 < counts(small)[0]
    assert counts(small)[1] > 0
    assert counts(steps_of(with_host(training_chain(12, 400), 1, 99)))[1] == 0


def test_a_copy_on_the_host_is_made_once():
    """A tensor that is read, left alone and read again, twice over, goes out once and comes back twice."""
    steps = steps_of(with_host(training_chain(30, 500), copy_ns=3))
    out = [step.tensor for step in steps if isinstance(step, Move) and step.source == 0]
    dropped = [step.tensor for step in steps if isinstance(step, Drop) and step.device == 1]
    assert len(set(out)) == len(out) > 0
    assert sorted(dropped) == sorted(out)


def test_the_host_is_a_device_that_computes_nothing_and_then_the_roomiest():
    problem = training_chain(3)
    names = ["gpu", "far", "ssd", "cpu", "old"]
    links = [Link(a, b, 10**9) for a in names for b in names if a != b and "far" not in (a, b)]
    devices = [Device(name, "", limit) for name, limit in zip(names, (None, None, 10, 1000, 900), strict=True)]
    computing = tuple(
        replace(o, costs=dict.fromkeys(("gpu", "far", "cpu", "old"), o.costs["gpu"])) for o in problem.operators
    )
    several = replace(problem, devices=tuple(devices), links=(*links, Link("gpu", "far", 1)), operators=computing)
    assert host_for(several.indexed, 0) == Host(2, 10, (100,) * 6, (100,) * 6)
    every = replace(several, operators=tuple(replace(o, costs=dict.fromkeys(names, o.costs["gpu"])) for o in computing))
    chosen = host_for(every.indexed, 0)
    assert chosen is not None
    assert chosen.device == 3
    assert host_for(problem.indexed, 0) is None


def test_only_tensors_with_ways_there_and_back_are_swapped():
    problem = training_chain(8, 500)
    two = replace(problem, devices=(*problem.devices, Device("host", "", None)), links=(Link("gpu", "host", 10**12),))
    assert host_for(two.indexed, 0) is None
    back = replace(two, transfers=(TransferTime("f1", "host", "gpu", 1),))
    steps = steps_of(back)
    moved = {problem.tensors[step.tensor].name for step in steps if isinstance(step, Move)}
    assert moved == {"f1"}


@st.composite
def tight_problems(draw: st.DrawFn) -> Problem:
    """A training chain of all sizes and times on a device where its largest operator just fits, or a little more."""
    chain = training_chain(draw(st.integers(3, 7)))
    operators = tuple(
        replace(
            operator,
            recomputable=draw(st.sampled_from([True, True, False])),
            costs={"gpu": (Implementation(draw(st.integers(0, 20)), draw(st.sampled_from([0, 0, 3]))),)},
        )
        for operator in chain.operators
    )
    tensors = tuple(Tensor(tensor.name, draw(st.integers(0, 9))) for tensor in chain.tensors)
    keep = draw(st.lists(st.sampled_from([tensor.name for tensor in tensors]), max_size=2, unique=True))
    problem = replace(chain, operators=operators, tensors=tensors, keep=tuple(keep))
    least = max(sets[0].tensor_bytes + sets[0].workspace_bytes for sets in working_sets(problem.indexed))
    links = tuple(Link(a, b, 10**9, draw(st.integers(0, 5))) for a, b in (("gpu", "host"), ("host", "gpu")))
    devices = (Device("gpu", "gpu", least + draw(st.integers(0, 9))), Device("host", "storage", draw(HOST_BYTES)))
    return replace(problem, devices=devices, links=links)


@given(problem=tight_problems(), eager=st.booleans())
@settings(deadline=None, max_examples=100)
def test_what_is_simulated_in_little_memory_keeps_every_rule(problem: Problem, eager: bool) -> None:
    one, host = on_one_device(problem.indexed, 0), host_for(problem.indexed, 0)
    assert one is not None
    assert host is not None
    simulations = {
        f"host, {h.key}": partial(simulated_with_host, host=host, heuristic=h) for h in (FILTER, SINGLE_FILTER)
    }
    simulations |= {h.key: partial(simulated, heuristic=h) for h in HEURISTICS}
    for words, simulate in simulations.items():
        try:
            steps = simulate(one, Limits(), eager=eager).steps
        except GivenUpError as error:
            event(f"{words}: {error.why.value}")
            continue
        replay = replay_steps(problem.indexed, steps)
        assert replay.valid, (replay.mistakes, replay.violations)
        event(f"{words}: {any(isinstance(step, Move) for step in steps) and 'swapped'}")


def test_too_little_room_is_told():
    problem = with_host(training_chain(4, 250), 1)
    one, host = on_one_device(problem.indexed, 0), host_for(problem.indexed, 0)
    assert one is not None
    assert host is not None
    with pytest.raises(GivenUpError) as error:
        simulated_with_host(one, Limits(), host)
    assert error.value.why is Why.NO_ROOM
