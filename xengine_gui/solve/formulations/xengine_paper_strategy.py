"""The strategy `xengine-paper`: XEngine's program under its paper's own rule of a copy, and the plan it comes to."""

from functools import partial
from typing import TYPE_CHECKING, Any

from xengine_gui.model.plan import Plan, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.formulations.paper_schedule import PaperProblem, PaperSchedule, judge_schedule, plan_steps
from xengine_gui.solve.formulations.search import Search
from xengine_gui.solve.formulations.xengine_strategy import why_too_large
from xengine_gui.solve.working_set import single_operator_proof
from xengine_gui.units import format_duration

if TYPE_CHECKING:
    from xengine_gui.solve.formulations.building import Heed

_RULE = "Under the paper's rule, where a remote read is paid at every use and takes no memory at the reader,"


class XEnginePaper:
    """Plans by XEngine's program as the paper has it."""

    key = "xengine-paper"
    title = "XEngine (paper's copies)"
    summary = (
        "XEngine's program under its paper's own rule: a remote read is paid at every use and takes no memory at the "
        "reader; a schedule is handed back only where it is a plan with real copies too."
    )
    proves = False
    has_quadratic_model = True

    def supports(self, problem: Problem) -> str:
        """Why it cannot: the model, quadratic in the operators, is too large."""
        return why_too_large(problem)

    def plan(self, problem: Problem, context: SolveContext) -> Plan:
        """The schedule as a plan where its copies find room; what it comes to under its own rule is told either way."""
        search = Search(problem, context, self.key)
        paper = PaperProblem(problem.indexed)
        answer = PaperSearch(paper, search)
        answer.solve()
        proof = single_operator_proof(problem.indexed)
        if proof is not None:
            return search.without(Status.INFEASIBLE, f"{proof.sentence(problem)} {answer.sentence}")
        if answer.schedule is None or search.steps is not None:
            return search.plan(answer.sentence, answer.sentence)
        return search.without(Status.UNKNOWN, f"{answer.sentence} With copies that take memory it is no plan.")

    def why_no_model(self, problem: Problem) -> str:
        """Why there is no model: under the paper's rule an operator needs only its results on its device."""
        is_hopeless = PaperProblem(problem.indexed).is_hopeless
        return "some operator fits on no device even alone with its results" if is_hopeless else ""

    def model(self, problem: Problem, *, quadratic: bool = False) -> Any:
        """The model that is solved, or its form with products."""
        return _model(PaperProblem(problem.indexed), quadratic=quadratic)


class PaperSearch:
    """The best schedule under the paper's rule so far; every schedule is judged under that rule."""

    def __init__(self, paper: PaperProblem, search: Search) -> None:
        self.paper, self.search = paper, search
        self.schedule: PaperSchedule | None = None
        self.total_ns: int | None = None
        self.is_proved = False

    def solve(self) -> None:
        """Solve the model; schedules that are plans with real copies go to the search."""
        from xengine_gui.solve.highs import Outcome  # noqa: PLC0415 - loaded on first use

        self.is_proved = self.paper.is_hopeless
        if self.is_proved:
            return
        outcome = self.search.solve(partial(_model, self.paper), self._steps_of)
        self.is_proved = outcome in (Outcome.SOLVED, Outcome.INFEASIBLE)

    @property
    def sentence(self) -> str:
        """What is known under the paper's rule."""
        if self.total_ns is None:
            return f"{_RULE} {'there is no schedule' if self.is_proved else 'no schedule was found within the time'}."
        is_best = self.is_proved and self.search.context.options.gap_ratio == 0
        what = "the optimum" if is_best else "the best schedule found"
        return f"{_RULE} {what} takes {format_duration(self.total_ns)}."

    def _steps_of(self, model: Any) -> list[Step] | None:
        """Judge the schedule of the model's present solution; its steps where it is a plan with real copies."""
        from xengine_gui.solve.formulations.xengine_paper import schedule_of  # noqa: PLC0415 - loaded on first use

        schedule = schedule_of(model)
        verdict = judge_schedule(self.paper, schedule)
        if verdict.broken:
            self.search.context.log(f"a schedule was left out, since it breaks the paper's rule: {verdict.broken[0]}")
            return None
        if self.total_ns is None or verdict.total_ns < self.total_ns:
            self.schedule, self.total_ns = schedule, verdict.total_ns
        return plan_steps(self.paper, schedule)


def _model(paper: PaperProblem, heed: "Heed | None" = None, *, quadratic: bool = False) -> Any:
    # Loaded on first use: Pyomo takes a second to import.
    from xengine_gui.solve.formulations.xengine_paper import paper_model  # noqa: PLC0415

    return paper_model(paper, heed, quadratic=quadratic)
