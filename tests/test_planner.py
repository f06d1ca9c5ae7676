"""The one door: what a file holds is told apart, and no plan that breaks a rule gets through."""

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from problems_fixed import chain_problem

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.model.plan import Drop, Plan, Run, Status, Step
from xengine_gui.model.plan_file import write_plan
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import write_problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.verify import verify
from xengine_gui.solve import strategies
from xengine_gui.solve.base import Finished, Incumbent, Log, SolveContext, SolveEvent, SolveOptions, Started

GOOD: list[Step] = [Run(0, 0), Run(0, 1), Drop(0, 0), Run(0, 2), Drop(0, 1), Run(0, 3)]
BAD: list[Step] = [Run(0, 0), Drop(0, 0), Run(0, 1), Run(0, 2), Run(0, 3)]


class Scripted:
    """A strategy that finds what it is told to find."""

    key = "scripted"
    title = "Scripted"
    summary = "Finds what it is told to."
    proves = False

    def __init__(self, incumbents: list[list[Step]], last: Plan) -> None:
        self.incumbents, self.last = incumbents, last

    def supports(self, problem: Problem) -> str:
        return "it is too odd" if problem.name == "odd" else ""

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        for steps in self.incumbents:
            context.incumbent(finished_plan(problem, self.key, steps))
        return replace(self.last, problem=problem)


def planned(monkeypatch: pytest.MonkeyPatch, incumbents: list[list[Step]], last: Plan) -> tuple[Plan, list[SolveEvent]]:
    monkeypatch.setattr(strategies, "STRATEGIES", (Scripted(incumbents, last),))
    events: list[SolveEvent] = []
    return planner.plan(chain_problem(), "scripted", emit=events.append), events


def test_a_good_plan_comes_through_between_start_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    good = finished_plan(chain_problem(), "scripted", GOOD)
    plan, events = planned(monkeypatch, [GOOD], good)
    assert plan == good
    assert [type(event) for event in events] == [Started, Incumbent, Finished]


def test_a_bad_plan_is_never_shown_as_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = finished_plan(chain_problem(), "scripted", BAD)
    assert not verify(bad).ok
    plan, events = planned(monkeypatch, [BAD], bad)
    assert plan.status is Status.UNKNOWN
    assert not plan.has_events
    assert plan.events == ()
    assert "needs 't0'" in plan.explanation
    assert [type(event) for event in events] == [Started, Log, Finished]


def test_the_best_good_incumbent_takes_the_place_of_a_bad_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    slow: list[Step] = [*GOOD, Run(0, 3)]
    plan, events = planned(monkeypatch, [GOOD, slow, BAD], finished_plan(chain_problem(), "scripted", BAD))
    assert plan.status is Status.FEASIBLE
    assert plan.total_ns == finished_plan(chain_problem(), "scripted", GOOD).total_ns
    assert sum(isinstance(event, Incumbent) for event in events) == 1


def test_a_plan_disproves_infeasible(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = Plan(chain_problem(), "scripted", Status.INFEASIBLE, explanation="no")
    plan, _ = planned(monkeypatch, [GOOD], claim)
    assert plan.status is Status.FEASIBLE
    assert verify(plan).ok
    plan, _ = planned(monkeypatch, [], claim)
    assert plan == claim


def test_a_strategy_may_decline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "STRATEGIES", (Scripted([], finished_plan(chain_problem(), "scripted", GOOD)),))
    with pytest.raises(InputError, match="Scripted cannot plan this: it is too odd"):
        planner.plan(replace(chain_problem(), name="odd"), "scripted")
    with pytest.raises(InputError, match="there is no strategy 'none'"):
        planner.plan(chain_problem(), "none")


def test_a_stop_before_the_start_still_ends() -> None:
    stop = threading.Event()
    stop.set()
    plan = planner.plan(chain_problem(), options=SolveOptions(time_limit_s=10), stop=stop)
    assert not plan.has_events or verify(plan).ok


def test_files_are_told_apart_by_what_they_hold(tmp_path: Path) -> None:
    problem = chain_problem()
    write_problem(problem, tmp_path / "problem.json")
    write_plan(finished_plan(problem, "test", GOOD), tmp_path / "plan.json")
    write_problem(problem, tmp_path / "problem without suffix")
    assert planner.open_file(tmp_path / "problem.json") == problem
    assert planner.open_file(tmp_path / "problem without suffix") == problem
    assert planner.open_file(tmp_path / "plan.json") == finished_plan(problem, "test", GOOD)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("none.json", None, "there is no such file"),
        ("none.onnx", None, "no such file"),
        ("list.json", b"[]", "must be an object"),
        ("other.json", b'{"format": "other"}', 'format must be "xengine-problem"'),
        ("cut.json", b'{"format": "xengine-pr', "this is not JSON"),
        ("picture.onnx", b"\x89PNG\r\n\x1a\n", "PNG"),
        ("picture.png", b"\x89PNG\r\n\x1a\n", "networks are read from files that end in"),
    ],
)
def test_bad_files_are_told_in_a_sentence(tmp_path: Path, name: str, content: bytes | None, sentence: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        planner.open_file(tmp_path / name)


def test_unlimited_memory_needs_no_recomputation() -> None:
    assert planner.unlimited_total_ns(chain_problem(0)) == 4 * 10


def test_the_other_doors_lead_to_the_same_rooms() -> None:
    problem = chain_problem(150)
    sweep = planner.sweep(problem, [planner.sweep_axis(problem, "gpu", 100, 400, 4)], ["optimal", "greedy"], workers=0)
    assert [point.total_ns for point in sweep.best()] == [None, 40, 40, 40]
    comparison = planner.compare(problem, ["optimal", "retain-all"])
    assert [row.status for row in comparison.rows] == ["infeasible", "infeasible"]
    found = planner.shortage(problem)
    assert found.proved
    assert "50 B are missing" in found.words(problem)
    free = planner.plan(chain_problem(), "retain-all")
    assert planner.diff(free, free).is_empty
