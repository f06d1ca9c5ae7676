"""Checkmate's MILP (Jain et al., MLSys 2020) in Pyomo; numbers are those of `FORMULATIONS.md`."""

from collections.abc import Iterator
from typing import Any

# Not pyomo.environ: it cannot be imported after Qt where matplotlib is absent.
import pyomo.core as pyo

from xengine_gui.solve.formulations.one_device import OneDevice

_MEMORY_SCALE = 1e4
"""The limit in the unit of the memory rows: HiGHS then sees a byte of ten gigabytes as its own tolerance."""


def checkmate_model(one: OneDevice) -> Any:
    """The whole model of a problem on one device; its memory rows are left out where there is no limit."""
    model = pyo.ConcreteModel(name="checkmate")
    _add_variables(model, one)
    _add_objective(model, one)
    _add_inputs(model, one)
    _add_holding(model, one)
    _add_kept(model, one)
    if one.room_bytes is not None:
        _add_brought(model, one)
        _add_frees(model, one)
        _add_levels(model, one)
    return model


def _add_variables(model: Any, one: OneDevice) -> None:
    """(1) run and held."""
    model.run = pyo.Var(one.runs, domain=pyo.Binary)
    model.held = pyo.Var(one.holds, domain=pyo.Binary)
    for stage in range(one.indexed.operator_count):
        model.run[stage, stage].fix(1)


def _add_objective(model: Any, one: OneDevice) -> None:
    """(2) The total, in the unit of time."""
    cost = [time_ns // one.time_unit_ns for time_ns in one.time_ns]
    model.total = pyo.Objective(expr=pyo.quicksum(cost[o] * model.run[t, o] for t, o in one.runs))


def _add_inputs(model: Any, one: OneDevice) -> None:
    """(3) An operator runs where each input is held as the stage begins, or is run in the stage."""
    model.inputs = pyo.Constraint(
        [(t, o, x) for t, o in one.runs for x in one.indexed.inputs[o]],
        rule=lambda model, t, o, x: model.run[t, o] <= _there(model, one, t, x),
    )


def _add_holding(model: Any, one: OneDevice) -> None:
    """(4) What is held as a stage begins was held or run in the stage before."""
    model.holding = pyo.Constraint(one.holds, rule=lambda model, t, x: model.held[t, x] <= _there(model, one, t - 1, x))


def _add_kept(model: Any, one: OneDevice) -> None:
    """(5) What must be kept is held or run in the last stage."""
    model.kept = pyo.Constraint(
        sorted(one.indexed.keep), rule=lambda model, x: _there(model, one, one.stage_count - 1, x) >= 1
    )


def _add_brought(model: Any, one: OneDevice) -> None:
    """(6) and (7) A run brings its result, which is not held then; of several results it brings those not held."""
    outputs = one.indexed.outputs
    model.once = pyo.Constraint(
        [(t, o, outputs[o][0]) for t, o in one.runs if len(outputs[o]) == 1 and (t, outputs[o][0]) in model.held],
        rule=lambda model, t, o, x: model.run[t, o] + model.held[t, x] <= 1,
    )
    several = [(t, o, x) for t, o in one.runs if len(outputs[o]) > 1 for x in outputs[o]]
    model.brought = pyo.Var(several, bounds=(0, 1))
    model.brought_anew = pyo.Constraint(
        several,
        rule=lambda model, t, o, x: model.brought[t, o, x] >= model.run[t, o] - _or_0(model.held, (t, x)),
    )


def _add_frees(model: Any, one: OneDevice) -> None:
    """(8) to (10) A tensor is freed behind an operator that runs, unless it is held on, kept or read once more."""
    model.freed = pyo.Var([(t, o, x) for t, o in one.runs for x in one.touched(o)], bounds=(0, 1))
    model.freed_behind_run = pyo.Constraint(
        model.freed.index_set(), rule=lambda model, t, o, x: model.freed[t, o, x] <= model.run[t, o]
    )
    model.freed_or_held = pyo.Constraint(
        [(t, o, x) for t, o, x in model.freed if (t + 1, x) in model.held or _is_kept(one, t, x)],
        rule=lambda model, t, o, x: model.freed[t, o, x] <= (0 if _is_kept(one, t, x) else 1 - model.held[t + 1, x]),
    )
    model.freed_or_read = pyo.Constraint(
        [(t, o, x, r) for t, o, x in model.freed for r in one.indexed.consumers[x] if r > o and (t, r) in model.run],
        rule=lambda model, t, o, x, r: model.freed[t, o, x] <= 1 - model.run[t, r],
    )


def _add_levels(model: Any, one: OneDevice) -> None:
    """(11) and (12) The level while an operator runs, from one operator of a stage to the next, under the limit."""
    unit = max(1, one.room_bytes or 0) / _MEMORY_SCALE
    size = [bytes_ / unit for bytes_ in one.indexed.tensor_bytes]
    model.level = pyo.Var(one.runs, bounds=(0, None))
    model.levels = pyo.Constraint(
        list(_steps(one)),
        rule=lambda model, t, o, before: (
            model.level[t, o]
            == _level_before(model, one, size, t, before)
            + pyo.quicksum(size[x] * _brought(model, t, o, x) for x in one.indexed.outputs[o])
        ),
    )
    model.limit = pyo.Constraint(
        one.runs,
        rule=lambda model, t, o: (
            model.level[t, o] + one.workspace_bytes[o] / unit * model.run[t, o] <= (one.room_bytes or 0) / unit
        ),
    )


def _steps(one: OneDevice) -> Iterator[tuple[int, int, int]]:
    """Each run with the operator before it in its stage, -1 where it is the first."""
    before = (-1, -1)
    for stage, operator in one.runs:
        yield stage, operator, before[1] if before[0] == stage else -1
        before = stage, operator


def _level_before(model: Any, one: OneDevice, size: list[float], stage: int, before: int) -> Any:
    if before < 0:
        return pyo.quicksum(size[x] * model.held[stage, x] for x in range(len(size)) if (stage, x) in model.held)
    freed = pyo.quicksum(size[x] * model.freed[stage, before, x] for x in one.touched(before))
    return model.level[stage, before] - freed


def _brought(model: Any, stage: int, operator: int, tensor: int) -> Any:
    index = stage, operator, tensor
    return model.brought[index] if index in model.brought else model.run[stage, operator]


def _there(model: Any, one: OneDevice, stage: int, tensor: int) -> Any:
    producer = one.indexed.producer[tensor]
    return _or_0(model.run, (stage, producer)) + _or_0(model.held, (stage, tensor))


def _or_0(variables: Any, index: tuple[int, ...]) -> Any:
    return variables[index] if index in variables else 0  # noqa: SIM401 - Pyomo's variables have no get


def _is_kept(one: OneDevice, stage: int, tensor: int) -> bool:
    return stage == one.stage_count - 1 and tensor in one.indexed.keep
