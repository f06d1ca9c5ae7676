"""A Pyomo model while it is built: a stop is heard, and the finished model becomes a matrix."""

import contextlib
import gc
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

# Not pyomo.environ: it cannot be imported after Qt where matplotlib is absent.
import pyomo.core as pyo
from pyomo.common.gc_manager import PauseGC
from pyomo.core.base.var import VarData
from pyomo.core.expr import (
    LinearExpression,
    MonomialTermExpression,
    NegationExpression,
    ProductExpression,
    SumExpression,
)
from scipy.sparse import csr_array

Floats = npt.NDArray[np.float64]
Item = TypeVar("Item")

_ASKED_EVERY = 256
_ASKED_AFTER_S = 0.05


class StoppedError(Exception):
    """A stop was asked for while a model was built."""


class Heed:
    """Passes items on, and raises `StoppedError` between two of them once a stop is asked for."""

    def __init__(self, should_stop: Callable[[], bool] = lambda: False) -> None:
        self._should_stop = should_stop
        self._passed = 0
        self._ask_at = 0.0

    def __call__(self, items: Iterable[Item]) -> Iterator[Item]:
        """The same items."""
        for item in items:
            self._passed += 1
            if self._passed % _ASKED_EVERY == 0 and time.monotonic() >= self._ask_at:
                if self._should_stop():
                    raise StoppedError
                self._ask_at = time.monotonic() + _ASKED_AFTER_S
            yield item


def variables(model: Any, name: str, keys: Iterable[Item], **options: Any) -> dict[Item, Any]:
    """A family of variables by key. Pyomo makes those of an index set at once; here `keys` may stop between two."""
    family = pyo.Var(pyo.Any, dense=False, **options)
    setattr(model, name, family)
    return {key: family[key] for key in keys}


@contextlib.contextmanager
def without_gc() -> Iterator[None]:
    """Nothing is looked through for garbage in here, and what there is at the end not until `gc.unfreeze()`."""
    with PauseGC():
        try:
            yield
        finally:
            gc.freeze()


def dismantle(model: Any) -> None:
    """Take a model apart: parts of it hold themselves, so only a search for garbage would find its many objects."""
    for component in list(model.component_objects(descend_into=False)):
        component.clear()
    model.clear()


@dataclass(frozen=True)
class Matrix:
    """Minimise `cost x + offset` over `row_lower <= rows x <= row_upper` and `lower <= x <= upper`.

    `columns` are the model's variables; `row_families` and `column_families` tell where the families of constraints and
    of variables are.
    """

    columns: tuple[Any, ...]
    cost: Floats
    offset: float
    lower: Floats
    upper: Floats
    is_integer: npt.NDArray[np.bool_]
    rows: csr_array
    row_lower: Floats
    row_upper: Floats
    row_families: dict[str, slice]
    column_families: dict[str, slice]

    def row_family(self, name: str) -> slice:
        """The rows of a family of constraints, none where the model lacks it."""
        return self.row_families.get(name, slice(0, 0))

    def column_family(self, name: str) -> slice:
        """The columns of a family of variables, none where the model lacks it."""
        return self.column_families.get(name, slice(0, 0))


def matrix_of(model: Any, should_stop: Callable[[], bool] = lambda: False) -> Matrix:
    """A linear model with one objective to be minimised, as a matrix; raises `StoppedError` after a stop.

    Pyomo's own compiler does the same, but hears no stop.
    """
    with PauseGC():  # a large model is millions of objects, none of them garbage
        return _Compiler(model, Heed(should_stop)).matrix()


class _Compiler:
    """One model on its way to a matrix."""

    def __init__(self, model: Any, heed: Heed) -> None:
        self.model, self.heed = model, heed
        self.column_families: dict[str, slice] = {}
        self.columns: list[Any] = []
        for family in model.component_objects(pyo.Var, descend_into=False):
            first = len(self.columns)
            self.columns.extend(family.values())
            self.column_families[family.local_name] = slice(first, len(self.columns))
        self.number = {id(column): i for i, column in enumerate(self.columns)}

    def matrix(self) -> Matrix:
        """Compile every active constraint and the objective."""
        row_families: dict[str, slice] = {}
        starts: list[int] = [0]
        index: list[int] = []
        data: list[float] = []
        lower: list[float] = []
        upper: list[float] = []
        for family in self.model.component_objects(pyo.Constraint, active=True, descend_into=False):
            first = len(lower)
            for row in self.heed(family.values()):
                low, body, high = row.to_bounded_expression()
                terms, constant = self._terms(body)
                index.extend(terms)
                data.extend(terms.values())
                starts.append(len(index))
                lower.append(-np.inf if low is None else low - constant)
                upper.append(np.inf if high is None else high - constant)
            row_families[family.local_name] = slice(first, len(lower))
        cost, offset = self._cost()
        column_lower, column_upper = self._bounds()
        shape = len(lower), len(self.columns)
        rows = csr_array((np.array(data, float), np.array(index, np.int32), np.array(starts, np.int32)), shape=shape)
        return Matrix(
            columns=tuple(self.columns),
            cost=cost,
            offset=offset,
            lower=column_lower,
            upper=column_upper,
            is_integer=np.array([not column.is_continuous() for column in self.columns], dtype=bool),
            rows=rows,
            row_lower=np.array(lower, float),
            row_upper=np.array(upper, float),
            row_families=row_families,
            column_families=self.column_families,
        )

    def _cost(self) -> tuple[Floats, float]:
        cost = np.zeros(len(self.columns))
        (objective,) = self.model.component_data_objects(pyo.Objective, active=True)
        terms, offset = self._terms(objective.expr)
        cost[list(terms)] = list(terms.values())
        return cost, offset

    def _bounds(self) -> tuple[Floats, Floats]:
        """The bounds of every column; a fixed one lies at its value."""
        bounds = [(c.value, c.value) if c.fixed else c.bounds for c in self.heed(self.columns)]
        lower = [-np.inf if low is None else low for low, _ in bounds]
        upper = [np.inf if high is None else high for _, high in bounds]
        return np.array(lower, float), np.array(upper, float)

    def _terms(self, expression: Any) -> tuple[dict[int, float], float]:
        terms: dict[int, float] = {}
        return terms, self._gather(expression, 1, terms)

    def _gather(self, expression: Any, factor: float, terms: dict[int, float]) -> float:
        """Add the terms of a linear expression, and give back its constant."""
        kind = expression.__class__
        if kind is VarData:
            number = self.number[id(expression)]
            terms[number] = terms.get(number, 0) + factor
            return 0.0
        if kind in (LinearExpression, SumExpression):
            constant = 0.0
            for part in expression.args:
                constant += self._gather(part, factor, terms)
            return constant
        if kind is MonomialTermExpression:
            coefficient, variable = expression.args
            return self._gather(variable, factor * coefficient, terms)
        if kind is NegationExpression:
            return self._gather(expression.args[0], -factor, terms)
        if kind is ProductExpression and isinstance(expression.args[0], int | float):
            return self._gather(expression.args[1], factor * expression.args[0], terms)
        return factor * float(expression)  # raises TypeError for anything that is not linear
