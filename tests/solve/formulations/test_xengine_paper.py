"""XEngine's ten tests under its paper's rule of a copy, the judge of that rule, and the plans that come of it."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import chain_problem

from xengine_gui.model.device import Device, TransferTime
from xengine_gui.model.operator import Implementation
from xengine_gui.model.plan import Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import Log, SolveContext, SolveEvent, SolveOptions
from xengine_gui.solve.formulations.paper_schedule import PaperProblem, PaperSchedule, judge_schedule
from xengine_gui.solve.formulations.search import Search
from xengine_gui.solve.formulations.xengine_paper_strategy import PaperSearch, XEnginePaper

EXACT = SolveOptions(gap_ratio=0.0, time_limit_s=100.0)


def solved(paper: PaperProblem, problem: Problem, events: list[SolveEvent] | None = None) -> PaperSearch:
    events = [] if events is None else events
    answer = PaperSearch(paper, Search(problem, SolveContext(EXACT, events.append), "xengine-paper"))
    answer.solve()
    assert answer.is_proved
    return answer


def the_authors(shared_folder: Path) -> list[tuple[Mapping[str, Any], Problem, dict[tuple[int, int, int, int], int]]]:
    """Each of the ten tests with its problem file and its copy prices per edge, in nanoseconds."""
    found = []
    for test in json.loads((shared_folder / "instances" / "xengine_tests.json").read_text(encoding="utf-8"))["tests"]:
        name = test["name"] + ("_5MB" if test["name"] == "multi_skip_copy" else "")
        problem = read_problem(shared_folder / "instances" / "tiny" / f"xengine_{name}.json")
        prices = {
            (reader, read, a, b): round(1000 * price)
            for (read, reader), rows in zip(test["edges"], test["copy_cost_edge_src_dst"] or [], strict=False)
            for a, row in enumerate(rows)
            for b, price in enumerate(row)
            if a != b
        }
        found.append((test, problem, prices))
    return found


def test_the_authors_tests_are_reproduced(shared_folder: Path) -> None:
    tests = the_authors(shared_folder)
    assert len(tests) == 10
    for test, problem, prices in tests:
        is_impossible = test["name"] == "multi_skip_copy"
        printed = solved(PaperProblem(problem.indexed, prices, as_printed=True), problem)
        expected = 33 if is_impossible else test["xengine_expected"]
        assert printed.total_ns == 1000 * expected, test["name"]
        mended = solved(PaperProblem(problem.indexed, prices), problem)
        assert mended.total_ns == 1000 * test["verified_optimum"]["A_copies_memory_free"], test["name"]


def test_as_printed_tensors_are_freed_that_are_not_there(shared_folder: Path) -> None:
    test, problem, prices = the_authors(shared_folder)[-1]
    assert test["name"] == "multi_skip_copy"
    printed = solved(PaperProblem(problem.indexed, prices, as_printed=True), problem)
    assert printed.schedule is not None
    verdict = judge_schedule(PaperProblem(problem.indexed, prices), printed.schedule)
    assert verdict.total_ns == 33_000
    assert any("bytes too much" in sentence for sentence in verdict.broken)


@given(problem=problems(max_operators=5, max_devices=3))
@settings(deadline=None, max_examples=60)
def test_every_schedule_keeps_the_papers_rule_and_every_plan_the_formats(problem: Problem) -> None:
    events: list[SolveEvent] = []
    plan = XEnginePaper().plan(problem, SolveContext(EXACT, events.append))
    assert not any("breaks the paper's rule" in event.message for event in events if isinstance(event, Log))
    assert plan.lower_bound_ns is None
    assert plan.explanation.endswith(".")
    if plan.has_events:
        assert verify(plan, problem).ok, verify(plan, problem).broken


def test_what_is_no_plan_is_told_in_a_sentence() -> None:
    """Each device has room for one tensor only; the reader's own result is all that counts in the paper."""
    chain = chain_problem(100, 2)
    costs = {"gpu": (Implementation(10),), "cpu": (Implementation(10),)}
    problem = replace(
        chain,
        devices=(*chain.devices, Device("cpu", "cpu", 100)),
        operators=tuple(replace(operator, costs=costs) for operator in chain.operators),
        transfers=(TransferTime("t0", "gpu", "cpu", 5), TransferTime("t0", "cpu", "gpu", 7)),
    )
    plan = XEnginePaper().plan(problem, SolveContext(EXACT))
    assert plan.status is Status.INFEASIBLE
    assert plan.explanation.endswith("takes no memory at the reader, the optimum takes 25 ns.")


CHAIN = PaperSchedule(runs=frozenset((o, o, 0) for o in range(4)), held=frozenset((t, t - 1, 0) for t in range(1, 4)))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            PaperSchedule(CHAIN.runs - {(2, 2, 0)}, CHAIN.held),
            "operator 2 is not first computed in its stage",
        ),
        (
            PaperSchedule(CHAIN.runs, CHAIN.held - {(3, 2, 0)}),
            "stage 3: operator 3 cannot read tensor 2 on device 0",
        ),
        (
            PaperSchedule(CHAIN.runs, CHAIN.held | {(3, 0, 0)}),
            "stage 3: tensor 0 is held on device 0, where it was not",
        ),
        (
            PaperSchedule(CHAIN.runs, CHAIN.held | {(2, 0, 0), (3, 0, 0)}),
            "stage 2: device 0 holds 100 bytes too much while operator 2 runs",
        ),
    ],
)
def test_the_judge_finds_what_is_broken(change: PaperSchedule, sentence: str) -> None:
    paper = PaperProblem(chain_problem(200).indexed)
    good = judge_schedule(paper, CHAIN)
    assert (good.total_ns, good.broken) == (40, ())
    assert sentence in judge_schedule(paper, change).broken
