"""POET against exhaustive search over energies and times, on tiny problems with a storage; deadlines and refusals."""

import heapq
import json
import math
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import chain_problem, training_chain

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation
from xengine_gui.model.plan import Compute, Plan, Status, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import parse_problem, problem_to_json, read_problem
from xengine_gui.schedule.energy import plan_energy_fj
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.judge import planned
from xengine_gui.solve.objective import Objective
from xengine_gui.solve.poet.strategy import Poet

EXACT = SolveOptions(gap_ratio=0.0, time_limit_s=60.0)
ENERGY = replace(EXACT, objective=Objective.ENERGY)


def with_card(
    problem: Problem, *, latency_ns: int = 5, device_uw: int = 3, link_uw: int = 2, card_bytes: int | None = None
) -> Problem:
    """A problem on one device with a card beside it, which takes `latency_ns` and a nanosecond a byte to copy to."""
    (device,) = problem.devices
    rate = 10**9
    return replace(
        problem,
        devices=(replace(device, power_uw=device_uw), Device("card", "storage", card_bytes)),
        links=(
            Link(device.name, "card", rate, latency_ns, link_uw),
            Link("card", device.name, rate, latency_ns, link_uw),
        ),
    )


def plan_of(problem: Problem, options: SolveOptions = ENERGY) -> Plan:
    plan = planned(Poet(), problem, SolveContext(options))
    if plan.has_events:
        assert verify(plan, problem).ok, verify(plan, problem).broken
        assert options.deadline_ns is None or plan.total_ns <= options.deadline_ns
    return plan


State = tuple[int, frozenset[int], frozenset[int]]
"""Operators computed for the first time, tensors on the device, tensors on the storage."""


def next_states(problem: Problem, state: State) -> Iterator[tuple[int, int, State]]:
    """Energy, time and what is where after any free, copy or computation."""
    done, held, stored = state
    indexed, (out, back), power_uw = problem.indexed, problem.links, problem.devices[0].power_uw or 0
    for t in held:
        yield 0, 0, (done, held - {t}, stored)
    for t in held - stored:
        ns = out.transfer_ns(indexed.tensor_bytes[t])
        yield ns * (out.power_uw or 0), ns, (done, held, stored | {t})
    for t in stored - held:
        ns = back.transfer_ns(indexed.tensor_bytes[t])
        yield ns * (back.power_uw or 0), ns, (done, held | {t}, stored)
    for o in range(min(done + 1, indexed.operator_count)):
        if set(indexed.inputs[o]) <= held and not (o < done and set(indexed.outputs[o]) <= held):
            ns = indexed.implementations[o][0][0].time_ns
            yield ns * power_uw, ns, (max(done, o + 1), held | set(indexed.outputs[o]), stored)


def least_energy_fj(problem: Problem, deadline_ns: float = math.inf) -> int | None:
    """By trying everything: copies and computations at any moment, on the first device and a storage without limit."""
    sizes, room = problem.indexed.tensor_bytes, problem.devices[0].memory_limit_bytes or math.inf
    found: defaultdict[State, list[tuple[int, int]]] = defaultdict(list)
    queue: list[tuple[int, int, int, State]] = [(0, 0, 0, (0, frozenset(), frozenset()))]
    number = count(1)
    while queue:
        energy, time_ns, _, state = heapq.heappop(queue)
        if any(e <= energy and t <= time_ns for e, t in found[state]):
            continue
        found[state].append((energy, time_ns))
        if state[0] == problem.indexed.operator_count:
            return energy
        for more, ns, after in next_states(problem, state):
            if time_ns + ns <= deadline_ns and sum(sizes[t] for t in after[1]) <= room:
                heapq.heappush(queue, (energy + more, time_ns + ns, next(number), after))
    return None


@pytest.mark.parametrize(("latency_ns", "link_uw"), [(0, 1), (5, 2), (50, 9)])
@pytest.mark.parametrize("limit_bytes", [3, 4])
def test_the_energy_is_the_least_by_trying_everything(latency_ns: int, link_uw: int, limit_bytes: int) -> None:
    chain = sized(training_chain(4, limit_bytes))
    problem = with_card(chain, latency_ns=latency_ns, link_uw=link_uw)
    plan = plan_of(problem)
    assert plan_energy_fj(plan) == least_energy_fj(problem)


def sized(problem: Problem, times: tuple[int, ...] = (7, 2, 9, 4)) -> Problem:
    """The problem with sizes of a byte, and times that differ."""
    operators = tuple(
        replace(o, costs={"gpu": (Implementation(times[i % len(times)]),)}) for i, o in enumerate(problem.operators)
    )
    return replace(problem, operators=operators, tensors=tuple(replace(t, size_bytes=1) for t in problem.tensors))


def test_cheap_copies_page_and_dear_ones_recompute() -> None:
    cheap = plan_of(with_card(sized(training_chain(4, 3)), latency_ns=0, link_uw=1))
    dear = plan_of(with_card(sized(training_chain(4, 3)), latency_ns=50, link_uw=9))
    assert any(isinstance(event, Transfer) for event in cheap.events)
    assert not any(isinstance(event, Transfer) for event in dear.events)
    assert any(isinstance(event, Compute) and event.again for event in dear.events)


def test_a_later_deadline_never_takes_more_energy_and_every_deadline_is_kept() -> None:
    # Copies take little power but long, so less time costs energy.
    problem = with_card(sized(training_chain(4, 3)), latency_ns=12, device_uw=50, link_uw=1)
    free = plan_of(problem)
    fastest = plan_of(problem, EXACT)
    assert fastest.total_ns < free.total_ns
    energies = []
    for deadline_ns in range(fastest.total_ns, free.total_ns + 1, 4):
        plan = plan_of(problem, replace(ENERGY, deadline_ns=deadline_ns))
        energies.append(plan_energy_fj(plan))
        assert energies[-1] == least_energy_fj(problem, deadline_ns)
    assert energies == sorted(energies, reverse=True)
    assert energies[0] > energies[-1]
    early = plan_of(problem, replace(ENERGY, deadline_ns=fastest.total_ns - 1))
    assert (early.status, early.has_events) == (Status.UNKNOWN, False)
    assert "by the deadline; others may exist." in early.explanation


def test_a_deadline_that_the_operators_alone_pass_is_infeasible() -> None:
    plan = plan_of(with_card(chain_problem(200)), replace(EXACT, deadline_ns=39))
    assert plan.status is Status.INFEASIBLE
    assert "takes 40 ns, longer than the deadline of 39 ns" in plan.explanation
    assert plan_of(with_card(chain_problem(200)), replace(EXACT, deadline_ns=40)).total_ns == 40


def test_a_small_storage_keeps_its_limit() -> None:
    totals = [
        plan_of(with_card(sized(training_chain(5, 3)), latency_ns=0, card_bytes=size), EXACT).total_ns
        for size in (0, 1, 2, None)
    ]
    assert totals == sorted(totals, reverse=True)
    assert totals[0] > totals[-1]
    without = plan_of(sized(training_chain(5, 3)), EXACT)
    assert totals[0] == without.total_ns


def test_known_optima_on_one_device_are_reached_and_none_is_passed(shared_folder: Path) -> None:
    reached = 0
    for path in sorted((shared_folder / "instances" / "tiny").glob("*.json")):
        problem = read_problem(path)
        known = json.loads(path.read_text(encoding="utf-8"))["known"]["serial_optimum_ns"]
        if Poet().supports(problem):
            continue
        plan = plan_of(problem, EXACT)
        assert plan.total_ns is None or (known is not None and plan.total_ns >= known), path.name
        reached += plan.total_ns == known and plan.has_events
    assert reached >= 25


@given(problem=problems(max_operators=5, max_devices=2))
@settings(deadline=None, max_examples=30)
def test_random_problems_get_a_valid_plan_or_a_reason(problem: Problem) -> None:
    if Poet().supports(problem):
        return
    plan = plan_of(problem, EXACT)
    assert plan.has_events or plan.explanation.endswith(".")
    assert plan.lower_bound_ns is None


def test_what_is_missing_for_an_energy_is_named() -> None:
    with pytest.raises(InputError, match="energies are not known, since device 'gpu' has no power_uw; presets with"):
        plan_of(chain_problem(200))
    problem = with_card(chain_problem(200))
    problem = replace(problem, links=(problem.links[0], replace(problem.links[1], power_uw=None)))
    with pytest.raises(InputError, match="the link from 'card' to 'gpu' has no power_uw"):
        plan_of(problem)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (ENERGY, "Greedy.* cannot plan this: it minimises time, not energy, which the strategy poet does"),
        (replace(EXACT, deadline_ns=9), "Greedy.* cannot plan this: it knows no deadline; the strategy poet does"),
    ],
)
def test_other_strategies_say_that_they_know_neither_energy_nor_deadline(options: SolveOptions, why: str) -> None:
    with pytest.raises(InputError, match=why):
        planner.plan(with_card(chain_problem(200)), "greedy", options)


def test_powers_are_written_and_read_and_left_out_where_there_are_none() -> None:
    problem = with_card(chain_problem(200))
    assert parse_problem(json.loads(json.dumps(problem_to_json(problem))), "again") == problem
    assert "power_uw" not in json.dumps(problem_to_json(chain_problem(200)))


def test_the_better_energy_is_handed_on_though_it_takes_longer() -> None:
    problem = with_card(sized(training_chain(4, 3)), latency_ns=12, device_uw=50, link_uw=1)
    assert planner.plan(problem, "poet", ENERGY).total_ns == plan_of(problem).total_ns


def test_the_command_line_plans_for_energy_by_a_deadline(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "xengine_gui", "plan", str(planner.sample_networks()[0].parent / "lenet.onnx")]
    words += ["--device", "mcu=cortex-m4,limit=97%", "--device", "card=sd-card-mcu", "--batch", "32"]
    words += ["--strategy", "poet", "--objective", "energy", "--deadline", "20s", "-o", str(tmp_path / "plan.json")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # 12.2 s of computing at the 10.982 mW of the preset.
    assert "energy       134 mJ  of computing and transferring, above idle" in done.stdout


def test_a_stop_before_the_start_leaves_the_first_plan() -> None:
    stop = threading.Event()
    stop.set()
    problem = with_card(sized(training_chain(6, 3)), latency_ns=0)
    plan = Poet().plan(problem, SolveContext(ENERGY, stop=stop))
    assert verify(plan, problem).ok
    assert not any(isinstance(event, Compute) and event.again for event in plan.events)
    assert plan.explanation == "HiGHS found no better plan within the time than a heuristic had at the start."
    alone = Poet().plan(sized(training_chain(6, 3)), SolveContext(EXACT, stop=stop))
    assert (alone.status, alone.has_events) == (Status.UNKNOWN, False)
    assert "not proved" in alone.explanation
