"""Smallest limits against closed forms and exhaustive search, and the words for what does not fit."""

import json
import threading
from dataclasses import replace

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import chain_problem, training_chain

from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import problem_to_json, read_problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.clock import steps_of
from xengine_gui.schedule.verify import verify
from xengine_gui.solve import feasibility
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.feasibility import SmallestLimit, smallest_limits
from xengine_gui.solve.shortage import Shortage, shortage
from xengine_gui.solve.watchpoints.highs import Limits
from xengine_gui.solve.watchpoints.limit_model import least_limit
from xengine_gui.solve.watchpoints.points import Segmentation, WatchPoint
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.strategy import Optimal
from xengine_gui.solve.watchpoints.tables import Tables
from xengine_gui.units import parse_size_bytes


def feasible(exact_search, problem):
    answer = exact_search.search(problem_to_json(problem), max_states=100_000)
    return answer["optimum_ns"] is not None if answer["complete"] else None


def bisected(exact_search, problem, device):
    """The smallest limit by exhaustive search, -1 where none would do, `None` where the search gives up."""
    low, high = 0, sum(x.size_bytes for x in (*problem.tensors, *problem.parameters)) + 9
    fits = feasible(exact_search, problem.with_limit(device, high))
    if not fits:
        return fits if fits is None else -1
    while low < high:
        middle = (low + high) // 2
        fits = feasible(exact_search, problem.with_limit(device, middle))
        if fits is None:
            return None
        low, high = (low, middle) if fits else (middle + 1, high)
    return low


def plain(problem):
    """The same problem as the exhaustive search understands it: no repeated inputs, no unused parameters."""
    operators = tuple(replace(o, inputs=tuple(dict.fromkeys(o.inputs))) for o in problem.operators)
    used = {p for o in operators for p in o.parameters}
    return replace(problem, operators=operators, parameters=tuple(p for p in problem.parameters if p.name in used))


@pytest.fixture(scope="module", params=["everything is tried", "by plans and proofs"])
def way(request):
    """Tiny problems are settled by trying everything; the way of larger ones must come to the same."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "by plans and proofs":
            patch.setattr(feasibility, "exhaustive_limit", lambda *_: None)
        yield request.param


@pytest.mark.parametrize("length", [2, 3, 6, 12])
@pytest.mark.parametrize("limit_bytes", [1, 299, 5000])
def test_a_training_chain_needs_three_tensors_however_long_it_is(way, length, limit_bytes):
    (small,) = smallest_limits(training_chain(length, limit_bytes))
    assert (small.limit_bytes, small.lower_bytes, small.proved) == (300, 300, True)
    assert small.given_bytes == limit_bytes
    assert small.moment.level_bytes == 300
    assert verify(small.plan).ok
    assert small.plan.peak_bytes == {"gpu": 300}


def test_the_published_chains_need_three_units(shared_folder):
    for path in sorted((shared_folder / "instances" / "tiny").glob("chain_*.json")):
        problem = read_problem(path)
        (small,) = smallest_limits(problem)
        assert (small.limit_bytes, small.proved) == (3 * problem.tensors[0].size_bytes, True), path.name


def test_tiny_instances_without_a_plan_are_proved_so_with_the_smallest_limits(shared_folder, exact_search):
    for path in sorted((shared_folder / "instances" / "tiny").glob("*.json")):
        if json.loads(path.read_text(encoding="utf-8"))["known"]["serial_optimum_ns"] is not None:
            continue
        problem = read_problem(path)
        short = shortage(problem)
        assert short.proved, path.name
        for small in smallest_limits(problem, infeasible=True):
            if small.limit_bytes is None:
                continue
            assert small.proved
            assert small.limit_bytes > small.given_bytes
            assert feasible(exact_search, problem.with_limit(small.device, small.limit_bytes)), path.name
            assert not feasible(exact_search, problem.with_limit(small.device, small.limit_bytes - 1)), path.name


@given(problem=problems(max_operators=5, max_devices=2).map(plain))
@settings(deadline=None, max_examples=40)
def test_smallest_limits_are_what_exhaustive_search_says(way, exact_search, problem):
    for small in smallest_limits(problem):
        known = bisected(exact_search, problem, small.device)
        if known is None:
            continue
        if small.limit_bytes is None:
            assert known == -1 or not small.proved
            continue
        assert small.lower_bytes <= known <= small.limit_bytes
        assert not small.proved or small.limit_bytes == known
        assert small.proved or way == "by plans and proofs"
        assert verify(small.plan).ok
        assert small.moment is None or small.moment.level_bytes == small.limit_bytes


def test_the_least_limit_of_a_relaxation_bounds_from_below_and_rises_with_its_moments():
    problem = training_chain(6, 5000)
    tables = Tables.of(problem.indexed)
    bounds = []
    for watched in ((), (5,), (5, 6, 7)):
        points = tuple(WatchPoint(o, o) for o in watched)
        relaxation = Relaxation.of(tables, Segmentation(problem.indexed.operator_count, points))
        bounds += [
            least_limit(relaxation, 0, Limits(10.0), integral=integral).lower_bytes for integral in (False, True)
        ]
    assert bounds == sorted(bounds)
    assert bounds[:2] == [0, 0]
    assert 200 <= bounds[2] <= bounds[-1] <= 300


def test_one_byte_below_the_minimum_is_explained():
    plan = Optimal().plan(training_chain(6, 299), SolveContext(SolveOptions(time_limit_s=20.0)))
    assert plan.status is Status.INFEASIBLE
    for word in ("'b", "'gpu'", "100 B", "300 B of tensors", "its limit is 299 B", "1 B is missing"):
        assert word in plan.explanation


def test_where_one_operator_is_too_large_the_limit_that_would_do_is_told_as_it_can_be_typed():
    mib = 2**20
    problem = training_chain(6, 290 * mib)
    problem = replace(problem, tensors=tuple(replace(t, size_bytes=100 * mib + 1) for t in problem.tensors))
    words = Optimal().plan(problem, SolveContext(SolveOptions(time_limit_s=20.0))).explanation
    wanted = f"'gpu' with 300 MiB ({300 * mib + 3:,} bytes) would do, and no less."
    assert words.endswith(wanted)
    told = words.split("(")[-1].split(")")[0]
    assert shortage(problem.with_limit("gpu", parse_size_bytes(told))).plan is not None


@pytest.mark.parametrize(("lower_bytes", "is_told"), [(0, False), (250, True)])
def test_a_bound_is_told_where_there_is_one(lower_bytes: int, is_told: bool):
    """That a device cannot do with less than nothing needs no proof."""
    found = tuple(
        SmallestLimit(device, 300, proved=False, lower_bytes=lower_bytes, given_bytes=299) for device in ("gpu", "cpu")
    )
    words = Shortage(proved=False, smallest=found).words(training_chain(6, 299))
    assert ("less than" in words) == ("cannot do is proved" in words) == is_told
    assert words.count("the least known") == 2


def test_what_is_missing_by_a_byte_is_told_to_the_byte():
    gib = 2**30
    problem = training_chain(6, 300 * gib - 1)
    problem = replace(problem, tensors=tuple(replace(t, size_bytes=100 * gib) for t in problem.tensors))
    words = shortage(problem).words(problem)
    assert f"it takes {300 * gib:,} bytes of tensors, its limit is {300 * gib - 1:,} bytes, 1 byte is missing" in words


def skip_chain(limit_bytes: int) -> Problem:
    """A first result that must not be computed again waits for the last operator, so the middle holds 400 bytes."""
    problem = training_chain(3, limit_bytes)
    first, *middle, last = problem.operators
    first = replace(first, recomputable=False)
    return replace(problem, operators=(first, *middle, last))


def test_what_is_retained_over_the_moment_that_binds_is_named():
    gib = 2**30 // 100
    problem = skip_chain(0)
    problem = replace(problem, tensors=tuple(replace(t, size_bytes=100 * gib) for t in problem.tensors))
    problem = problem.with_limit("gpu", 400 * gib - 1)
    short = shortage(problem)
    words = short.words(problem)
    assert short.proved
    assert short.closest.limit_bytes == 400 * gib
    # A byte does not show in GiB, so both are told to the byte.
    assert f"within {400 * gib - 1:,} bytes: at least {400 * gib:,} bytes are needed (proved)" in words
    assert "'gpu' is fullest while" in words
    assert "retained for later 'f0' 1024 MiB" in words or "retained for later 'f0' 1.00 GiB" in words
    assert shortage(problem, proved=True).words(problem) == words


def test_with_several_devices_each_is_told_with_the_others_as_they_are():
    problem = chain_problem(199)
    problem = replace(
        problem,
        devices=(Device("gpu", "gpu", 199), Device("cpu", "cpu", 150)),
        operators=tuple(
            replace(o, costs={"gpu": (Implementation(10),), "cpu": (Implementation(90),)}) for o in problem.operators
        ),
    )
    assert [(s.device, s.limit_bytes, s.proved) for s in smallest_limits(problem)] == [
        ("gpu", 200, True),
        ("cpu", 200, True),
    ]


def test_no_limit_of_one_device_helps_where_the_other_is_too_small():
    problem = chain_problem(1000, length=2)
    first, second = problem.operators
    cpu = {"cpu": (Implementation(10),)}
    problem = replace(
        problem,
        devices=(Device("gpu", "gpu", 1000), Device("cpu", "cpu", 50)),
        operators=(replace(first, costs=cpu), replace(second, costs=cpu)),
    )
    gpu, cpu_limit = smallest_limits(problem)
    assert (gpu.limit_bytes, gpu.proved) == (None, True)
    assert (cpu_limit.limit_bytes, cpu_limit.proved) == (200, True)


def test_where_everything_fits_it_says_so_at_once():
    short = shortage(training_chain(6, 1000))
    assert short.retained
    assert "without recomputation" in short.words(short.plan.problem)
    plan = Optimal().plan(training_chain(6, 700), SolveContext())
    assert plan.explanation == "It fits without recomputation."


def test_stopped_at_once_nothing_is_claimed():
    stop = threading.Event()
    stop.set()
    for small in smallest_limits(skip_chain(350), stop):
        assert small.lower_bytes <= 400
        assert small.limit_bytes is None or small.limit_bytes >= 400
        assert small.limit_bytes is not None or not small.proved


def test_problems_without_limits_have_no_smallest_ones():
    assert smallest_limits(training_chain(3, None)) == ()


def test_planning_again_starts_from_the_last_plan():
    tight = Optimal().plan(training_chain(8, 400), SolveContext(SolveOptions(gap_ratio=0.0)))
    assert tight.has_events
    # A larger limit: still valid. A smaller one: repaired. Other names: not of this graph.
    for limit in (500, 300):
        again = Optimal().plan(training_chain(8, limit), SolveContext(SolveOptions(gap_ratio=0.0, incumbent=tight)))
        fresh = Optimal().plan(training_chain(8, limit), SolveContext(SolveOptions(gap_ratio=0.0)))
        assert again.total_ns == fresh.total_ns
        assert verify(again).ok
    other = chain_problem(200)
    assert Optimal().plan(other, SolveContext(SolveOptions(incumbent=tight))).total_ns == 40


def test_a_known_bound_closes_the_gap_of_the_last_plan():
    last = Optimal().plan(training_chain(8, 400), SolveContext(SolveOptions(gap_ratio=0.0)))
    options = SolveOptions(gap_ratio=0.0, incumbent=last, known_bound_ns=last.total_ns)
    again = Optimal().plan(last.problem, SolveContext(options))
    assert again.status is Status.OPTIMAL
    assert steps_of(last.problem, again.events) == steps_of(last.problem, last.events)


def test_a_tensor_that_no_link_brings_is_named():
    problem = Problem(
        name="apart",
        devices=(Device("g"), Device("h")),
        operators=(
            Operator("a", "Conv", Phase.FORWARD, (), ("x",), costs={"g": (Implementation(5),)}),
            Operator("b", "Conv", Phase.FORWARD, ("x",), ("y",), costs={"h": (Implementation(5),)}),
        ),
        tensors=(Tensor("x", 1), Tensor("y", 1)),
    )
    plan = Optimal().plan(problem, SolveContext())
    assert plan.status is Status.INFEASIBLE
    assert plan.explanation == (
        "No plan exists, whatever the limits: 'b' runs only on 'h', and no link or transfer brings its input 'x' there "
        "from 'g'."
    )


def test_what_floats_cannot_tell_apart_is_not_called_optimal():
    slow, fast = Implementation(9_000_000_000_000, name="slow"), Implementation(8_999_999_999_990, name="fast")
    problem = Problem(
        name="near",
        devices=(Device("g", memory_limit_bytes=10),),
        operators=(Operator("a", "Conv", Phase.FORWARD, (), ("x",), costs={"g": (slow, fast)}),),
        tensors=(Tensor("x", 1),),
    )
    plan = Optimal().plan(problem, SolveContext(SolveOptions(gap_ratio=0.0, time_limit_s=5.0)))
    assert plan.total_ns == 8_999_999_999_990
    assert (plan.status is Status.OPTIMAL) == (plan.lower_bound_ns == plan.total_ns)
