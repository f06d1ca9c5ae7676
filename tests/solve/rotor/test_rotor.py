"""rotor: the programme's optimum, what it counts, and how graphs become chains."""

from collections.abc import Callable
from functools import cache
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reversal_chains import recording_chain, state_chain

from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import problem_to_json
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.checkpointing.binomial import extra_steps
from xengine_gui.solve.checkpointing.forward_part import forward_part
from xengine_gui.solve.checkpointing.layout import layout
from xengine_gui.solve.checkpointing.revolve import Revolve
from xengine_gui.solve.checkpointing.sweeps import run_order
from xengine_gui.solve.formulations.one_device import single_devices
from xengine_gui.solve.rotor.chain import MOST_STAGES, Chain, chain_of
from xengine_gui.solve.rotor.strategy import Persistent, Rotor
from xengine_gui.solve.rotor.table import MOST_SLOTS, Table, slot_count

times = st.integers(1, 9)


def chain_and_table(problem: Problem, memory_bytes: int, most_slots: int = MOST_SLOTS) -> tuple[Chain, Table]:
    chain = chain_of(forward_part(problem, single_devices(problem)[0]))
    assert chain is not None
    table = Table(chain, memory_bytes, most_slots)
    assert table.fill(lambda: False)
    return chain, table


@st.composite
def uneven_chains(draw: st.DrawFn) -> Problem:
    """A chain whose steps differ in size and time, and in what their backward reads: input, result or a record."""
    length = draw(st.integers(2, 7))
    operators = [Operator("F0", "x", Phase.FORWARD, (), ("x0",), costs={"gpu": (Implementation(draw(times)),)})]
    backward = []
    sizes = {"x0": draw(times), "g0": draw(times)}
    for i in range(1, length + 1):
        sizes |= {f"x{i}": draw(times), f"r{i}": draw(times), f"g{i}": draw(times)}
        read = draw(st.sampled_from([(f"x{i - 1}",), (f"x{i}",), (f"r{i}",), (f"x{i - 1}", f"r{i}"), ()]))
        forward, back = (Implementation(draw(times), draw(st.sampled_from([0, 3]))) for _ in range(2))
        outputs = (f"x{i}", f"r{i}")
        operators.append(Operator(f"F{i}", "x", Phase.FORWARD, (f"x{i - 1}",), outputs, costs={"gpu": (forward,)}))
        backward.append(
            Operator(f"B{i}", "x", Phase.BACKWARD, (*read, f"g{i}"), (f"g{i - 1}",), costs={"gpu": (back,)})
        )
    loss = Operator("loss", "x", Phase.LOSS, (f"x{length}",), (f"g{length}",), costs={"gpu": (Implementation(1),)})
    return Problem(
        name="uneven",
        devices=(Device("gpu", "gpu"),),
        operators=(*operators, loss, *reversed(backward)),
        tensors=tuple(Tensor(name, size) for name, size in sizes.items()),
    )


@given(problem=uneven_chains(), slots=st.sampled_from([6, 20, 150]))
@settings(deadline=None, max_examples=40)
def test_no_plan_takes_more_memory_or_time_than_the_programme_says(problem: Problem, slots: int) -> None:
    chain, table = chain_and_table(problem, 150, slots)
    least = table.least[0, table.count - 1]
    for m in range(table.slots + 1):
        if least[m] < (least[m - 1] if m else float("inf")):
            retention = Persistent(chain, table, m)
            order = run_order(chain.part, retention, ceiling_ns=float("inf"), should_stop=lambda: False)
            assert order is not None
            replay = replay_steps(problem.indexed, layout(chain.part.one, order).steps)
            assert replay.valid
            assert replay.peak_bytes[0] <= m * table.slot_bytes + chain.lasting_bytes
            assert replay.total_ns <= least[m]


@given(problem=uneven_chains())
@settings(deadline=None, max_examples=25)
def test_the_table_is_the_recurrence(problem: Problem) -> None:
    chain, table = chain_and_table(problem, 60)
    assert table.slot_bytes == 1
    least = recurrence(chain)
    for s in range(table.count):
        for t in range(s, table.count):
            assert [least(s, t, m) for m in range(0, 61, 3)] == table.least[s, t, ::3].tolist()


def recurrence(chain: Chain) -> Callable[[int, int, int], float]:
    """The paper's recurrence, as it is written, in bytes; with stages that record nothing or have no backward."""
    stages = chain.stages

    @cache
    def least(s: int, t: int, m: int) -> float:
        if m < 0:
            return float("inf")
        first, last = stages[s], stages[t]
        if s == t:
            record = first.gradient_bytes + first.record_peak_bytes if first.record else 0
            if m < max(record, first.backward_peak_bytes):
                return float("inf")
            return first.backward_ns + (first.forward_ns if first.record else 0)
        if not last.has_backward:
            return least(s, t - 1, m)
        ways = [float("inf")]
        if m >= max(last.gradient_bytes + first.record_peak_bytes, first.backward_peak_bytes):
            ways.append(first.forward_ns + least(s + 1, t, m - first.kept_bytes) + first.backward_ns)
        for r in range(s + 1, t + 1):
            beside = [
                first.pass_peak_bytes,
                *(stages[k].state_bytes + stages[k].pass_peak_bytes for k in range(s + 1, r)),
            ]
            if m >= last.gradient_bytes + max(beside):
                forward_ns = sum(stages[k].forward_ns for k in range(s, r))
                ways.append(forward_ns + least(r, t, m - stages[r].state_bytes) + least(s, r - 1, m))
        return min(ways)

    return least


@pytest.mark.parametrize("length", [1, 5, 12, 21])
def test_on_uniform_chains_it_is_binomial(length: int) -> None:
    # A state for each checkpoint, and two gradients beside them while a step's backward runs.
    for limit in range(3, length + 3):
        plan = Rotor().plan(state_chain(length, limit=limit), SolveContext())
        assert verify(plan).ok
        forward_steps = extra_steps(length + 1, limit - 2) + 1
        assert plan.total_ns == forward_steps + 1 + 2 * length
        assert Revolve().plan(state_chain(length, limit=limit), SolveContext()).total_ns == plan.total_ns


@pytest.mark.parametrize("limit", [11, 13, 16])
def test_it_keeps_cheap_states_that_a_uniform_rule_would_drop(limit: int) -> None:
    # Two wide, quick states among narrow ones that are dear to make.
    sizes, chain_times = [1, 1, 5, 1, 1, 5, 1, 1], [9, 9, 1, 9, 9, 1, 9, 9]
    problem = state_chain(7, limit=limit, sizes=sizes, times=chain_times)
    plan = Rotor().plan(problem, SolveContext())
    assert verify(plan).ok
    assert (plan.total_ns or 0) <= (Revolve().plan(problem, SolveContext()).total_ns or 10**6)


def test_uneven_chains_come_near_the_exact_optimum_and_never_below(exact_search: ModuleType) -> None:
    rotor_ns = optimum_ns = 0
    for sizes, chain_times in (
        ([1, 2, 3, 1], [4, 1, 7, 2]),
        ([3, 1, 2, 2], [1, 9, 2, 5]),
        ([2, 2, 1, 4], [3, 3, 8, 1]),
    ):
        for limit in range(2 * max(sizes) + 1, sum(sizes) + max(sizes) + 1):
            problem = state_chain(len(sizes) - 1, limit=limit, sizes=sizes, times=chain_times)
            plan = Rotor().plan(problem, SolveContext())
            known = exact_search.search(problem_to_json(problem), max_states=100_000)
            assert known["complete"]
            if plan.total_ns is not None:
                assert plan.total_ns >= known["optimum_ns"]
                rotor_ns += plan.total_ns
                optimum_ns += known["optimum_ns"]
    assert optimum_ns
    assert rotor_ns <= 1.02 * optimum_ns


def test_the_stages_of_a_chain_and_their_measures() -> None:
    chain, _ = chain_and_table(recording_chain(3, record_bytes=4), 40)
    assert chain.boundaries == (0, 2, 3, 4)
    assert chain.lasting_bytes == 1  # x0
    assert chain.stage_of == (2, 2, 1, 0)  # loss, B3, B2, B1
    assert [stage.state_bytes for stage in chain.stages] == [0, 1, 1]
    assert [stage.kept_bytes for stage in chain.stages] == [
        5,
        5,
        5,
    ]  # a record, and the state after or that the loss reads
    assert [stage.record_peak_bytes for stage in chain.stages] == [5, 5, 5]
    assert [stage.backward_ns for stage in chain.stages] == [1, 1, 2]


def test_a_graph_without_a_cut_is_declined_in_words() -> None:
    # x0 is read by everyone and is as heavy as the rest, and the one operator before it is all there is to cut off.
    operators = [Operator("F0", "x", Phase.FORWARD, (), ("x0", "y0"), costs={"gpu": (Implementation(1),)})]
    for i in range(1, 5):
        reads = (f"x{i - 1}", "y0")
        operators.append(Operator(f"F{i}", "x", Phase.FORWARD, reads, (f"x{i}",), costs={"gpu": (Implementation(1),)}))
    operators.append(Operator("loss", "x", Phase.LOSS, ("x4",), (), costs={"gpu": (Implementation(1),)}))
    tensors = tuple(Tensor(name, 1) for name in ("x0", "y0", "x1", "x2", "x3", "x4"))
    problem = Problem("woven", (Device("gpu", ""),), tuple(operators), tensors)
    assert Rotor().supports(problem) == "no single tensor cuts its forward part in two, so it has no form of a chain"
    assert not Rotor().supports(state_chain(1))


def test_no_device_that_runs_everything_is_told_first() -> None:
    problem = state_chain(2)
    none = Problem("none", (*problem.devices, Device("cpu", "")), (*problem.operators, _only_on_cpu()), problem.tensors)
    assert Rotor().supports(none) == "no device alone can run every operator"


def _only_on_cpu() -> Operator:
    return Operator("end", "x", Phase.UPDATE, (), (), costs={"cpu": (Implementation(1),)})


def test_a_long_chain_is_cut_more_coarsely_and_still_planned() -> None:
    problem = state_chain(4 * MOST_STAGES, limit=60)
    chain = chain_of(forward_part(problem, single_devices(problem)[0]))
    assert chain is not None
    assert len(chain.stages) == MOST_STAGES
    plan = Rotor().plan(problem, SolveContext())
    assert verify(plan).ok


def test_slots_are_fewer_on_longer_chains() -> None:
    counts = [slot_count(stages) for stages in (1, 50, 100, MOST_STAGES)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == MOST_SLOTS
    assert counts[-1] >= 100
