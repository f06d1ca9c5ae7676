"""Two plans side by side: every change is named, and the costs of all changes are the difference of the totals."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import chain_problem, training_chain

from xengine_gui.errors import InputError
from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Drop, Move, Plan, Run, Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.diff import diff
from xengine_gui.schedule.diff_words import ChangeKind, change_lines, format_cost, headline
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.greedy.strategy import Greedy
from xengine_gui.solve.retain_all import RetainAll

MIB = 2**20


def pair() -> Problem:
    """a, b, c: 10 ns on the GPU (or 7 by another way), 40 ns on the CPU; b reads a, c reads both. A copy takes 5 ns."""
    ways = {"gpu": (Implementation(10), Implementation(7, name="fast")), "cpu": (Implementation(40),)}
    inputs = {"a": (), "b": ("ta",), "c": ("ta", "tb")}
    return Problem(
        name="pair",
        devices=(Device("gpu", "gpu", None), Device("cpu", "cpu", None)),
        links=tuple(Link(a, b, 2**40, 4) for a, b in (("gpu", "cpu"), ("cpu", "gpu"))),
        operators=tuple(Operator(n, "x", Phase.FORWARD, i, (f"t{n}",), costs=ways) for n, i in inputs.items()),
        tensors=tuple(Tensor(f"t{n}", MIB) for n in inputs),
    )


COPY_NS = pair().indexed.copy_ns(0, 1, 0)
PLAIN = [Run(0, 0), Run(0, 1), Run(0, 2)]


def planned(steps) -> Plan:
    return finished_plan(pair(), "hand", steps)


def texts(before, after):
    return [(line.sentence, line.cost_ns) for line in change_lines(diff(planned(before), planned(after)))]


def test_the_same_plan_differs_in_nothing():
    same = diff(planned(PLAIN), planned(PLAIN))
    assert same.is_empty
    assert same.cost_ns == 0
    assert headline(same) == "Both plans do the same at the same stages."


def test_a_recompute_in_place_of_holding():
    again = [Run(0, 0), Run(0, 1), Drop(0, 0), Run(0, 0), Run(0, 2)]
    # Freed and brought back within stage 3, so it is held at the end of every stage all the same.
    assert texts(PLAIN, again) == [
        ("a is recomputed once on gpu.", 10),
        ("ta (1.00 MiB) is freed on gpu in stage 3.", None),
    ]
    assert texts(again, PLAIN)[0] == ("a is no longer recomputed (was once on gpu).", -10)
    twice = [*again[:4], Run(0, 0), Run(0, 2)]
    assert texts(again, twice) == [("a is recomputed twice on gpu, not once.", 10)]


def test_what_is_held_is_told_by_stages():
    early = [Run(0, 0), Run(0, 1), Run(0, 0), Run(0, 2)]
    gone = [Run(0, 0), Run(0, 1), Run(0, 2), Drop(0, 1)]
    assert texts(PLAIN, gone) == []  # what is freed after the last stage makes no difference
    later = [Run(0, 0), Drop(0, 0), Run(0, 0), Run(0, 1), Drop(0, 0), Run(0, 0), Run(0, 2)]
    assert [line for line, cost in texts(early, later) if cost is None] == [
        "ta (1.00 MiB) is freed on gpu in stages 2-3."
    ]
    chain = chain_problem()
    holds = finished_plan(chain, "hand", [Run(0, o) for o in range(4)])
    frees = finished_plan(chain, "hand", [Run(0, 0), Run(0, 1), Drop(0, 0), Run(0, 2), Drop(0, 1), Run(0, 3)])
    lines = [line.sentence for line in change_lines(diff(holds, frees))]
    assert lines == [
        "t0 (100 B) is held on gpu for 2 stages less, stages 3-4 missing.",
        "t1 (100 B) is held on gpu for 1 stage less, stage 4 missing.",
    ]
    assert "for 2 stages more, stages 3-4." in change_lines(diff(frees, holds))[0].sentence
    assert headline(diff(holds, frees)) == "Both take the same time; only what is held when differs."


def test_an_operator_elsewhere_and_its_transfers():
    across = [Run(0, 0), Move(0, 1, 0), Run(1, 1), Move(1, 0, 1), Run(0, 2)]
    difference = diff(planned(PLAIN), planned(across))
    assert [m.cost_ns for m in difference.moved] == [30]
    assert [(t.source, t.destination, t.cost_ns) for t in difference.transferred] == [
        ("gpu", "cpu", COPY_NS),
        ("cpu", "gpu", COPY_NS),
    ]
    sentences = [line.sentence for line in change_lines(difference)]
    assert sentences[:3] == [
        "b runs on cpu, not gpu.",
        "ta (1.00 MiB) is transferred from gpu to cpu.",
        "tb (1.00 MiB) is transferred from cpu to gpu.",
    ]
    assert "ta (1.00 MiB) is held on cpu for 2 stages more, stages 2-3." in sentences
    total = 30 + 2 * COPY_NS
    assert difference.cost_ns == total
    assert headline(difference) == (
        f"The second takes {total / 1000:.2f} µs longer ({100 * total / 30:.1f} %): "
        f"operators elsewhere +30 ns, transfers +{2 * COPY_NS / 1000:.2f} µs."
    )
    twice = [*across[:2], Move(0, 1, 0), *across[2:]]
    assert ("ta (1.00 MiB) is transferred from gpu to cpu twice, not once.", COPY_NS) in texts(across, twice)
    assert ("ta (1.00 MiB) is no longer transferred from gpu to cpu.", -COPY_NS) in texts(across, PLAIN)


def test_another_implementation_is_told():
    assert texts(PLAIN, [Run(0, 0, 1), *PLAIN[1:]]) == [("a runs on gpu by fast, not the usual way.", -3)]


def test_peaks_are_side_by_side():
    freed = [Run(0, 0), Run(0, 1), Run(0, 2)]
    across = [Run(0, 0), Move(0, 1, 0), Drop(0, 0), Run(1, 1), Run(1, 2)]
    assert diff(planned(freed), planned(across)).peak_bytes == {"gpu": (3 * MIB, MIB), "cpu": (0, 3 * MIB)}


def test_kinds_come_one_after_the_other_the_dearest_first():
    across = [Run(1, 0), Run(1, 1), Run(1, 0), Move(1, 0, 0), Move(1, 0, 1), Run(0, 2, 1), Run(0, 2)]
    lines = change_lines(diff(planned(PLAIN), planned(across)))
    kinds = [line.kind for line in lines]
    assert kinds == sorted(kinds, key=list(ChangeKind).index)
    moved = [abs(line.cost_ns) for line in lines if line.kind is ChangeKind.MOVED]
    assert moved == [30, 30, 3]


def test_signs():
    assert [format_cost(ns) for ns in (3_200_000, -410, 0)] == ["+3.20 ms", "-410 ns", "±0"]


def test_what_cannot_be_compared_is_told():
    plan = planned(PLAIN)
    with pytest.raises(InputError, match="two different graphs, 'chain' and 'pair'"):
        diff(finished_plan(chain_problem(), "hand", [Run(0, o) for o in range(4)]), plan)
    with pytest.raises(InputError, match="nothing to compare"):
        diff(plan, Plan(pair(), "hand", Status.UNKNOWN))


def test_limits_may_differ():
    plan = planned(PLAIN)
    limited = replace(plan, problem=plan.problem.with_limit("gpu", 4 * MIB))
    assert diff(plan, limited).is_empty


@given(problem=problems(max_operators=7, max_devices=2))
@settings(deadline=None, max_examples=40)
def test_the_costs_of_all_changes_are_the_difference_of_the_totals(problem):
    options = SolveOptions(time_limit_s=0.2)
    plans = [s.plan(problem, SolveContext(options)) for s in (Greedy(), RetainAll())]
    free = Greedy().plan(problem.without_limits(), SolveContext(options))
    plans = [plan for plan in (*plans, free) if plan.has_events]
    for before in plans:
        for after in plans:
            there, back = diff(before, after), diff(after, before)
            assert there.cost_ns == (after.total_ns or 0) - (before.total_ns or 0)
            assert there.moved_ns + there.recomputed_ns + there.transferred_ns == there.cost_ns
            assert back.cost_ns == -there.cost_ns
            assert {(h.tensor, h.device, h.longer, h.shorter) for h in there.held} == {
                (h.tensor, h.device, h.shorter, h.longer) for h in back.held
            }
            assert there.is_empty == back.is_empty


def test_a_chain_recomputed_from_the_beginning_costs_what_it_recomputes():
    problem = training_chain(5)
    options = SolveContext(SolveOptions(time_limit_s=5.0))
    tight = Greedy().plan(problem.with_limit("gpu", 400), options)
    free = RetainAll().plan(problem, options)
    difference = diff(free, tight)
    assert difference.cost_ns == 10 * sum(r.more for r in difference.recomputed)
    assert difference.cost_ns > 0
    assert not difference.moved
