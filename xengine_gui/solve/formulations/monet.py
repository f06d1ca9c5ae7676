"""MONeT's joint choice of checkpoints and implementations (Shah et al., ICLR 2021) in Pyomo.

Numbers are those of `FORMULATIONS.md`: Checkmate's rows (1) to (11) over the runs that MONeT knows, and (13) to (15).
"""

from collections.abc import Iterator
from typing import Any

# Not pyomo.environ: it cannot be imported after Qt where matplotlib is absent.
import pyomo.core as pyo
from pyomo.common.gc_manager import PauseGC

from xengine_gui.model.plan import Run, Step
from xengine_gui.solve.formulations.building import Heed
from xengine_gui.solve.formulations.checkmate import MEMORY_SCALE, checkmate_model
from xengine_gui.solve.formulations.monet_device import MonetDevice
from xengine_gui.solve.formulations.one_device import steps_of_stages


def monet_model(side: MonetDevice, heed: Heed | None = None) -> Any:
    """The whole model of a problem on one device."""
    model = checkmate_model(side, heed)
    model.name = "monet"
    with PauseGC():
        _add_choices(model, side)
        _add_choice_times(model, side)
        if side.room_bytes is not None:
            _add_choice_workspaces(model, side)
    return model


def _choices(side: MonetDevice) -> Iterator[tuple[int, int, int]]:
    for stage, operator in side.runs:
        if len(side.ways[operator]) > 1:
            yield from ((stage, operator, j) for j in side.ways[operator])


def _add_choices(model: Any, side: MonetDevice) -> None:
    """(13) Each run takes one implementation."""
    model.use = pyo.Var(list(_choices(side)), domain=pyo.Binary)
    model.one_way = pyo.Constraint(
        [(t, o) for t, o in side.runs if len(side.ways[o]) > 1],
        rule=lambda model, t, o: pyo.quicksum(model.use[t, o, j] for j in side.ways[o]) == model.run[t, o],
    )


def _add_choice_times(model: Any, side: MonetDevice) -> None:
    """(14) The total, with the times of what was chosen."""
    unit = side.time_unit_ns
    chosen = pyo.quicksum(side.choice_rows(o)[j].time_ns // unit * model.use[t, o, j] for t, o, j in model.use)
    model.total.set_value(model.total.expr + chosen)


def _add_choice_workspaces(model: Any, side: MonetDevice) -> None:
    """(15) The level and the workspace of what was chosen stay within the limit."""
    room = side.room_bytes or 0
    scale = MEMORY_SCALE / max(1, room)

    def workspace(model: Any, stage: int, operator: int) -> Any:
        rows = side.choice_rows(operator)
        return pyo.quicksum(
            rows[j].workspace_bytes * scale * model.use[stage, operator, j] for j in side.ways[operator]
        )

    model.chosen_limit = pyo.Constraint(
        [(t, o) for t, o in side.runs if len(side.ways[o]) > 1],
        rule=lambda model, t, o: model.level[t, o] + workspace(model, t, o) <= room * scale,
    )


def monet_steps(side: MonetDevice, model: Any) -> list[Step]:
    """The steps of the model's present solution."""
    steps = steps_of_stages(
        side,
        runs=lambda stage, operator: model.run[stage, operator].value > 0.5,
        holds=lambda stage, tensor: model.held[stage, tensor].value > 0.5,
    )
    stage = 0
    chosen: list[Step] = []
    for step in steps:
        if isinstance(step, Run):
            chosen.append(step._replace(implementation=_used(side, model, stage, step.operator)))
            stage += step.operator == stage
        else:
            chosen.append(step)
    return chosen


def _used(side: MonetDevice, model: Any, stage: int, operator: int) -> int:
    ways = side.ways[operator]
    return ways[0] if len(ways) == 1 else max(ways, key=lambda way: float(model.use[stage, operator, way].value))
