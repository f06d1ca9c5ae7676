"""A model becomes the same matrix as by Pyomo's own compiler, and a stop is heard while it is built and solved."""

import gc
import threading

import numpy as np
import pyomo.core as pyo
import pytest
from hypothesis import given, settings
from problems import problems
from problems_fixed import training_chain
from pyomo.common.errors import InfeasibleConstraintException
from pyomo.core.base.var import VarData
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from xengine_gui.model.plan import Status
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveContext, SolveOptions, Strategy
from xengine_gui.solve.formulations.building import Heed, StoppedError, matrix_of
from xengine_gui.solve.formulations.checkmate import checkmate_model
from xengine_gui.solve.formulations.highs import Work
from xengine_gui.solve.formulations.one_device import on_one_device
from xengine_gui.solve.formulations.rounding_strategy import CheckmateRounding
from xengine_gui.solve.formulations.strategy import Checkmate
from xengine_gui.solve.formulations.xengine_paper_strategy import XEnginePaper
from xengine_gui.solve.formulations.xengine_strategy import XEngine
from xengine_gui.solve.poet.strategy import Poet


@given(problem=problems(max_operators=5, max_devices=1))
@settings(deadline=None, max_examples=30)
def test_the_matrix_is_that_of_pyomo_s_own_compiler(problem: Problem) -> None:
    one = on_one_device(problem.indexed, 0)
    assert one is not None
    if not one.runs or one.room_bytes == 0:
        return
    model = checkmate_model(one)
    matrix = matrix_of(model)
    free = {i for i, column in enumerate(matrix.columns) if not column.fixed}
    fixed = np.array([column.value if column.fixed else 0.0 for column in matrix.columns])
    taken = matrix.rows @ fixed
    mine = set()
    for i in range(len(matrix.row_lower)):
        terms = {str(matrix.columns[j]): v for j, v in zip(*_row(matrix.rows, i), strict=True) if j in free}
        if any(terms.values()):  # where all sizes are 0 a row of memory says nothing
            mine.add(_entry(terms, matrix.row_lower[i] - taken[i], matrix.row_upper[i] - taken[i]))
    broken = (taken < matrix.row_lower - 1e-9) | (taken > matrix.row_upper + 1e-9)
    loose = np.array([j in free for j in range(len(matrix.columns))], float)
    constant = abs(matrix.rows) @ loose == 0
    try:
        form = LinearStandardFormCompiler().write(model, mixed_form=True)
    except InfeasibleConstraintException:  # Pyomo refuses a row of fixed variables that does not hold; HiGHS finds it
        assert np.any(broken & constant)
        return
    theirs, rows = set(), form.A.tocsr()
    for i, row in enumerate(form.rows):
        terms = {str(form.columns[j]): v for j, v in zip(*_row(rows, i), strict=True)}
        low = -np.inf if row.bound_type == 1 else form.rhs[i]
        theirs.add(_entry(terms, low, np.inf if row.bound_type == -1 else form.rhs[i]))
    assert mine - theirs == theirs - mine == set()


def _row(rows, i):  # type: ignore[no-untyped-def]
    span = slice(rows.indptr[i], rows.indptr[i + 1])
    return rows.indices[span], rows.data[span]


def _entry(terms: dict[str, float], low: float, high: float) -> tuple[object, ...]:
    kept = frozenset((name, round(value, 6)) for name, value in terms.items() if value)
    return kept, round(low, 6) + 0.0, round(high, 6) + 0.0


def test_what_is_not_linear_is_refused() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, 1))
    model.total = pyo.Objective(expr=model.x * model.x)
    with pytest.raises(TypeError):
        matrix_of(model)


def test_a_stop_is_heard_between_two_items() -> None:
    items = iter(range(10_000))
    with pytest.raises(StoppedError):
        list(Heed(lambda: True)(items))
    assert next(items) < 1_000


@pytest.mark.parametrize("strategy", [Checkmate(), CheckmateRounding(), XEngine(), XEnginePaper()], ids=lambda s: s.key)
def test_a_stop_while_the_model_is_built_ends_it(strategy: Strategy) -> None:
    """The first question comes from the builder, and is answered with a stop."""
    stop, events = threading.Event(), []

    class Stopping(SolveContext):
        def should_stop(self) -> bool:
            stop.set()
            return True

    plan = strategy.plan(training_chain(12, 600), Stopping(SolveOptions(time_limit_s=None), events.append, stop))
    assert plan.status is Status.UNKNOWN
    assert "within the time" in plan.explanation
    assert not events


@pytest.mark.parametrize("strategy", [Checkmate(), CheckmateRounding(), XEngine(), Poet()], ids=lambda s: s.key)
def test_no_model_outlives_its_strategy(strategy: Strategy) -> None:
    """Models hold themselves; those of large problems are a gibibyte that only a search for garbage would find."""
    gc.unfreeze()  # what stops in other tests have left
    gc.collect()
    before = _variable_count()
    plan = strategy.plan(training_chain(5, 300), SolveContext())
    assert plan.has_events
    assert gc.get_freeze_count() == 0
    assert _variable_count() == before


def _variable_count() -> int:
    return sum(issubclass(type(item), VarData) for item in gc.get_objects())


class Deaf:
    """A solver that hears nothing until it has ended."""

    def __init__(self) -> None:
        self.may_end = threading.Event()

    def run(self) -> None:
        self.may_end.wait()


def test_a_solver_that_does_not_hear_the_stop_is_left_behind() -> None:
    deaf = Deaf()
    work = Work(deaf)
    assert list(work.news(lambda: True)) == []
    assert not work.is_done
    deaf.may_end.set()


def test_a_solver_that_ends_is_waited_for() -> None:
    deaf = Deaf()
    deaf.may_end.set()
    work = Work(deaf)
    assert list(work.news(lambda: False)) == []
    assert work.is_done
