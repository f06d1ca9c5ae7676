"""Checkmate's MILP (Jain et al., MLSys 2020) in Pyomo; numbers are those of `FORMULATIONS.md`."""

from collections.abc import Iterator
from typing import Any

# Not pyomo.environ: it cannot be imported after Qt where matplotlib is absent.
import pyomo.core as pyo
from pyomo.common.gc_manager import PauseGC

from xengine_gui.solve.formulations.building import Heed, variables
from xengine_gui.solve.formulations.one_device import OneDevice

MEMORY_SCALE = 1e4
"""The limit in the unit of the memory rows: HiGHS then sees a byte of ten gigabytes as its own tolerance."""


def checkmate_model(one: OneDevice, heed: Heed | None = None) -> Any:
    """The whole model of a problem on one device; its memory rows are left out where there is no limit."""
    model = CheckmateModel(one, heed or Heed())
    with PauseGC():
        model.add_variables()
        model.add_objective()
        if one.room_bytes is not None:
            model.add_memory_variables()
            model.add_brought()
        model.add_inputs()
        model.add_holding()
        model.add_kept()
        if one.room_bytes is not None:
            model.add_frees()
            model.add_levels()
            model.add_limit()
            model.add_room_to_hold()
    return model.pyomo


class CheckmateModel:
    """The model while it is built; a method adds one family. POET's is made from it."""

    def __init__(self, one: OneDevice, heed: Heed) -> None:
        self.one, self.indexed, self.heed = one, one.indexed, heed
        self.pyomo: Any = pyo.ConcreteModel(name="checkmate")
        self.run: dict[tuple[int, int], Any] = {}
        self.held: dict[tuple[int, int], Any] = {}
        self.brought: dict[tuple[int, int, int], Any] = {}
        self.freed: dict[tuple[int, int, int], Any] = {}
        self.level: dict[tuple[int, int], Any] = {}
        room = max(1, one.room_bytes or 0)
        self.unit = room / MEMORY_SCALE
        self.size = [bytes_ / self.unit for bytes_ in self.indexed.tensor_bytes]
        self.room = (one.room_bytes or 0) / self.unit

    def add_variables(self) -> None:
        """(1) run and held."""
        self.run = variables(self.pyomo, "run", self.heed(self.one.runs), domain=pyo.Binary)
        self.held = variables(self.pyomo, "held", self.heed(self.one.holds), domain=pyo.Binary)
        for stage in range(self.indexed.operator_count):
            self.run[stage, stage].fix(1)

    def add_objective(self) -> None:
        """(2) The total, in the unit of time."""
        cost = [time_ns // self.one.time_unit_ns for time_ns in self.one.time_ns]
        terms = (cost[o] * run for (_, o), run in self.heed(self.run.items()))
        self.pyomo.total = pyo.Objective(expr=pyo.quicksum(terms))

    def add_memory_variables(self) -> None:
        """freed, brought and level."""
        freed = ((t, o, x) for t, o in self.heed(self.one.runs) for x in self.one.touched(o))
        outputs = self.indexed.outputs
        several = [(t, o, x) for t, o in self.one.runs if len(outputs[o]) > 1 for x in outputs[o]]
        self.freed = variables(self.pyomo, "freed", freed, bounds=(0, 1))
        self.brought = variables(self.pyomo, "brought", several, bounds=(0, 1))
        self.level = variables(self.pyomo, "level", self.heed(self.one.runs), bounds=(0, self.room))

    def add_brought(self) -> None:
        """(6) and (7) A run brings its result, which is not held then; of several results it brings those not held."""
        once = self.pyomo.once = pyo.Constraint(pyo.Any)
        for (t, o), run in self.heed(self.run.items()):
            for x in self.indexed.outputs[o] if len(self.indexed.outputs[o]) == 1 else ():
                if (t, x) in self.held:
                    once[t, o] = run + self.held[t, x] <= 1
        anew = self.pyomo.brought_anew = pyo.Constraint(pyo.Any)
        only = self.pyomo.brought_by_run = pyo.Constraint(pyo.Any)
        twice = self.pyomo.brought_or_held = pyo.Constraint(pyo.Any)
        for (t, o, x), brought in self.heed(self.brought.items()):
            held = self.held.get((t, x), 0)
            anew[t, o, x] = brought >= self.run[t, o] - held
            only[t, o, x] = brought <= self.run[t, o]
            if (t, x) in self.held:
                twice[t, o, x] = brought + held <= 1

    def add_inputs(self) -> None:
        """(3) An operator runs where each input is held or run in the stage, and not freed there before."""
        inputs = self.pyomo.inputs = pyo.Constraint(pyo.Any)
        for (t, o), run in self.heed(self.run.items()):
            for x in self.indexed.inputs[o]:
                inputs[t, o, x] = run + pyo.quicksum(self._frees(t, x, o)) <= self._there(t, x)

    def add_holding(self) -> None:
        """(4) What is held on was there in the stage before and not freed; nothing is freed that was not there."""
        holding = self.pyomo.holding = pyo.Constraint(pyo.Any)
        for t in range(self.one.stage_count):
            for x, producer in self.heed(enumerate(self.indexed.producer)):
                gone = list(self._frees(t, x))
                gone += [self.held[t + 1, x]] if (t + 1, x) in self.held else []
                if producer <= t and gone and not self._is_kept(t, x):
                    holding[t, x] = pyo.quicksum(gone) <= self._there(t, x)

    def add_kept(self) -> None:
        """(5) What must be kept is there in the last stage, and not freed."""
        kept = self.pyomo.kept = pyo.Constraint(pyo.Any)
        last = self.one.stage_count - 1
        for x in sorted(self.indexed.keep):
            kept[x] = self._there(last, x) - pyo.quicksum(self._frees(last, x)) >= 1

    def add_frees(self) -> None:
        """(8) A tensor is freed behind an operator that runs."""
        behind = self.pyomo.freed_behind_run = pyo.Constraint(pyo.Any)
        for (t, o, x), freed in self.heed(self.freed.items()):
            behind[t, o, x] = freed <= self.run[t, o]

    def add_levels(self) -> None:
        """(9) The level while an operator runs, from one operator of a stage to the next."""
        levels = self.pyomo.levels = pyo.Constraint(pyo.Any)
        for t, o, before in self.heed(self._steps()):
            outputs = self.indexed.outputs[o]
            brought = [self.size[x] * self.brought.get((t, o, x), self.run[t, o]) for x in outputs]
            levels[t, o] = self.level[t, o] == pyo.quicksum([*self._level_behind(t, before), *brought])

    def add_limit(self) -> None:
        """(10) The limit, where workspace comes on top; elsewhere it is the bound of the level."""
        limit = self.pyomo.limit = pyo.Constraint(pyo.Any)
        for (t, o), level in self.heed(self.level.items()):
            if self.one.workspace_bytes[o]:
                limit[t, o] = level + self.one.workspace_bytes[o] / self.unit * self.run[t, o] <= self.room

    def add_room_to_hold(self) -> None:
        """(11) What is held on has room beside the stage's own operator: this follows, but not in the LP."""
        room_to_hold = self.pyomo.room_to_hold = pyo.Constraint(pyo.Any)
        for t in self.heed(range(self.indexed.operator_count)):
            touched = set(self.one.touched(t))
            taken = sum(self.size[x] for x in touched) + self.one.workspace_bytes[t] / self.unit
            others = (x for x in range(self.indexed.tensor_count) if x not in touched and (t + 1, x) in self.held)
            held = [self.size[x] * self.held[t + 1, x] for x in others]
            if held:
                room_to_hold[t] = pyo.quicksum(held) <= self.room - taken

    def _steps(self) -> Iterator[tuple[int, int, int]]:
        """Each run with the operator before it in its stage, -1 where it is the first."""
        before = (-1, -1)
        for stage, operator in self.one.runs:
            yield stage, operator, before[1] if before[0] == stage else -1
            before = stage, operator

    def _level_behind(self, stage: int, operator: int) -> list[Any]:
        if operator < 0:
            tensors = range(self.indexed.tensor_count)
            return [self.size[x] * self.held[stage, x] for x in tensors if (stage, x) in self.held]
        freed = (-self.size[x] * self.freed[stage, operator, x] for x in self.one.touched(operator))
        return [self.level[stage, operator], *freed]

    def _there(self, stage: int, tensor: int) -> Any:
        """Whether a tensor is held or run in a stage."""
        producer, held = self.indexed.producer[tensor], self.held.get((stage, tensor), 0)
        run = self.run.get((stage, producer), 0)
        return self.brought.get((stage, producer, tensor), run) + held

    def _frees(self, stage: int, tensor: int, before: int | None = None) -> Iterator[Any]:
        """The frees of a tensor in a stage, or those of them behind operators that come before another."""
        for operator in (self.indexed.producer[tensor], *self.indexed.consumers[tensor]):
            if before is not None and operator >= before:
                return
            if (stage, operator, tensor) in self.freed:
                yield self.freed[stage, operator, tensor]

    def _is_kept(self, stage: int, tensor: int) -> bool:
        return stage == self.one.stage_count - 1 and tensor in self.indexed.keep
