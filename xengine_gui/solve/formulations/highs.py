"""A Pyomo model to HiGHS: compiled to a matrix, solved with bounds and solutions on the way, stopped when asked.

Pyomo's own solve is not used: it captures the output of the whole process, and tells nothing while it works.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from xengine_gui.solve.highs import Outcome, SilentHighs, outcome_of

_ABOVE, _BELOW = -1, 1
"""How the compiler calls rows that lie above or below their right-hand side; 0 are equations."""


@dataclass(frozen=True)
class Orders:
    """When a solve must end, and who hears of it: `on_solution` after the model's variables have their new values."""

    remaining_s: Callable[[], float]
    gap_ratio: float
    should_stop: Callable[[], bool]
    on_bound: Callable[[float], None]
    on_solution: Callable[[], None]


def solve(model: Any, orders: Orders, *, presolve: bool = True) -> Outcome:
    """Solve a linear model with one objective to be minimised; its variables take the values of each solution."""
    form = LinearStandardFormCompiler().write(model, mixed_form=True)
    if not form.columns:  # every variable is fixed, and HiGHS tells nothing of an empty model
        orders.on_bound(float(form.c_offset[0]))
        orders.on_solution()
        return Outcome.SOLVED
    highs = _loaded(form)
    highs.setOptionValue("time_limit", max(0.01, min(orders.remaining_s(), 1e9)))
    highs.setOptionValue("mip_rel_gap", orders.gap_ratio)
    highs.setOptionValue("mip_abs_gap", 1e-9)
    highs.setOptionValue("presolve", "choose" if presolve else "off")
    errors: list[Exception] = []

    def ask(event: highspy.highs.HighsCallbackEvent) -> None:
        orders.on_bound(event.data_out.mip_dual_bound)
        if errors or orders.should_stop():
            event.interrupt()

    def improved(event: highspy.highs.HighsCallbackEvent) -> None:
        try:
            _assign(form.columns, event.data_out.mip_solution)
            orders.on_solution()
        except Exception as error:  # noqa: BLE001 - HiGHS swallows what a callback raises; it is raised again below
            errors.append(error)

    highs.cbMipInterrupt += ask
    highs.cbMipImprovingSolution += improved
    highs.run()
    if errors:
        raise errors[0]
    outcome, info = outcome_of(highs), highs.getInfo()
    if outcome in (Outcome.SOLVED, Outcome.STOPPED):
        orders.on_bound(info.mip_dual_bound)
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        _assign(form.columns, highs.getSolution().col_value)
        orders.on_solution()
    return outcome


def _assign(columns: Sequence[Any], values: Iterable[float]) -> None:
    for column, value in zip(columns, values, strict=True):
        column.set_value(value, skip_validation=True)


def _loaded(form: Any) -> highspy.Highs:
    matrix, model = form.A.tocsr(), highspy.HighsLp()
    model.num_col_, model.num_row_ = matrix.shape[1], matrix.shape[0]
    model.col_cost_, model.offset_ = form.c.toarray()[0], float(form.c_offset[0])
    bounds = [column.bounds for column in form.columns]
    model.col_lower_ = np.array([-highspy.kHighsInf if low is None else low for low, _ in bounds])
    model.col_upper_ = np.array([highspy.kHighsInf if high is None else high for _, high in bounds])
    kinds = highspy.HighsVarType
    model.integrality_ = [kinds.kContinuous if column.is_continuous() else kinds.kInteger for column in form.columns]
    bound_type, right = np.array([row.bound_type for row in form.rows]), np.array(form.rhs, dtype=float)
    model.row_lower_ = np.where(bound_type == _BELOW, -highspy.kHighsInf, right)
    model.row_upper_ = np.where(bound_type == _ABOVE, highspy.kHighsInf, right)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    model.a_matrix_.index_ = matrix.indices.astype(np.int32)
    model.a_matrix_.value_ = matrix.data
    highs = SilentHighs()  # type: ignore[no-untyped-call]
    highs.passModel(model)
    return highs
