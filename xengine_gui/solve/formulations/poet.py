"""POET's MILP (Patil et al., ICML 2022) in Pyomo: Checkmate's and paging; numbers are those of `poet/POET.md`."""

from typing import Any

import pyomo.core as pyo
from pyomo.common.gc_manager import PauseGC

from xengine_gui.solve.formulations.building import Heed
from xengine_gui.solve.formulations.checkmate import MEMORY_SCALE, CheckmateModel
from xengine_gui.solve.poet.paging import Paging

_COST_SCALE = 1e6
"""What everything computed once costs, in the unit of the objective; the deadline in the unit of its row."""


def poet_model(paging: Paging, heed: Heed | None = None) -> Any:
    """The whole model of computing on one device with a storage beside it."""
    model = _Poet(paging, heed or Heed())
    with PauseGC():
        model.add_variables()
        model.add_paging()
        model.add_objective()
        if paging.one.room_bytes is not None:
            model.add_memory_variables()
            model.add_brought()
        model.add_inputs()
        model.add_holding()
        model.add_storing()
        model.add_kept()
        model.add_deadline()
        model.add_storage_limit()
        if paging.one.room_bytes is not None:
            model.add_frees()
            model.add_levels()
            model.add_limit()
            model.add_room_to_hold()
    return model.pyomo


class _Poet(CheckmateModel):
    """The model while it is built; run and held are the paper's R and S_RAM."""

    def __init__(self, paging: Paging, heed: Heed) -> None:
        super().__init__(paging.one, heed)
        self.paging = paging
        self.stored: dict[tuple[int, int], Any] = {}
        self.page_in: dict[tuple[int, int], Any] = {}
        self.page_out: dict[tuple[int, int], Any] = {}

    def add_paging(self) -> None:
        """(P1) stored, page_in and page_out: S_SD, M_in and M_out."""
        self.pyomo.stored = pyo.Var(self.paging.stores, domain=pyo.Binary)
        self.pyomo.page_in = pyo.Var(self.paging.ins, domain=pyo.Binary)
        self.pyomo.page_out = pyo.Var(self.paging.outs, domain=pyo.Binary)
        self.stored, self.page_in = dict(self.pyomo.stored), dict(self.pyomo.page_in)
        self.page_out = dict(self.pyomo.page_out)

    def add_objective(self) -> None:
        """(P2) What runs and copies cost: their time or their energy."""
        unit = (sum(self.paging.run_cost) or 1) / _COST_SCALE
        self.pyomo.total = pyo.Objective(
            expr=self._sum(self.paging.run_cost, self.paging.in_cost, self.paging.out_cost, unit)
        )

    def add_holding(self) -> None:
        """(P3) and (P4) What is held on is there and not freed, or paged in; what is paged out is there at the end."""
        holding = self.pyomo.holding = pyo.Constraint(pyo.Any)
        leaving = self.pyomo.leaving = pyo.Constraint(pyo.Any)
        for t in range(self.one.stage_count):
            for x, producer in self.heed(enumerate(self.indexed.producer)):
                if producer > t:
                    continue
                freed = list(self._frees(t, x))
                if (t + 1, x) in self.held:
                    held, paged = self.held[t + 1, x], self.page_in.get((t, x), 0)
                    holding[t, x] = pyo.quicksum([held, *freed]) <= self._there(t, x) + paged
                gone = freed + ([self.page_out[t, x]] if (t, x) in self.page_out else [])
                if gone:
                    leaving[t, x] = pyo.quicksum(gone) <= self._there(t, x)

    def add_storing(self) -> None:
        """(P5) to (P7) What is paged in is stored and then held; what is stored was stored before, or paged out."""
        read = self.pyomo.read = pyo.Constraint(pyo.Any)
        used = self.pyomo.used = pyo.Constraint(pyo.Any)
        for (t, x), paged in self.heed(self.page_in.items()):
            read[t, x] = paged <= self.stored[t, x]
            used[t, x] = paged <= self.held[t + 1, x]
        storing = self.pyomo.storing = pyo.Constraint(pyo.Any)
        for (t, x), stored in self.heed(self.stored.items()):
            before = [self.stored[t - 1, x]] if (t - 1, x) in self.stored else []
            out = [self.page_out[t - 1, x]] if (t - 1, x) in self.page_out else []
            storing[t, x] = stored <= pyo.quicksum([*before, *out])

    def add_kept(self) -> None:
        """(P8) What must be kept is on the device at the end, or stored."""
        kept = self.pyomo.kept = pyo.Constraint(pyo.Any)
        last = self.one.stage_count - 1
        for x in sorted(self.indexed.keep):
            stored = self.stored.get((last + 1, x), 0)
            kept[x] = self._there(last, x) - pyo.quicksum(self._frees(last, x)) + stored >= 1

    def add_deadline(self) -> None:
        """(P9) Runs and copies end by the deadline, one after the other."""
        deadline_ns = self.paging.deadline_ns
        if deadline_ns is not None:
            unit = max(1, deadline_ns) / _COST_SCALE
            total = self._sum(self.one.time_ns, self.paging.in_ns, self.paging.out_ns, unit)
            self.pyomo.deadline = pyo.Constraint(expr=total <= deadline_ns / unit)

    def add_storage_limit(self) -> None:
        """(P10) Where the storage cannot hold everything: its limit; what is paged in leaves it a stage later."""
        room = self.paging.storage_bytes
        if room is None or room >= sum(self.indexed.tensor_bytes):
            return
        unit = max(1, room) / MEMORY_SCALE
        limit = self.pyomo.storage_limit = pyo.Constraint(pyo.Any)
        stages: dict[int, list[Any]] = {}
        for (t, x), stored in self.stored.items():
            stages.setdefault(t, []).append(self.indexed.tensor_bytes[x] / unit * stored)
        for t, terms in self.heed(stages.items()):
            limit[t] = pyo.quicksum(terms) <= room / unit
        stays = self.pyomo.stays = pyo.Constraint(pyo.Any)
        for (t, x), paged in self.heed(self.page_in.items()):
            stays[t, x] = paged <= self.stored[t + 1, x]

    def add_room_to_hold(self) -> None:
        """(11) of Checkmate, for what is held on without being paged in."""
        room_to_hold = self.pyomo.room_to_hold = pyo.Constraint(pyo.Any)
        for t in self.heed(range(self.indexed.operator_count)):
            touched = set(self.one.touched(t))
            taken = sum(self.size[x] for x in touched) + self.one.workspace_bytes[t] / self.unit
            others = (x for x in range(self.indexed.tensor_count) if x not in touched and (t + 1, x) in self.held)
            held = [self.size[x] * (self.held[t + 1, x] - self.page_in.get((t, x), 0)) for x in others]
            if held:
                room_to_hold[t] = pyo.quicksum(held) <= self.room - taken

    def _sum(self, run: Any, into: Any, out: Any, unit: float) -> Any:
        terms = [run[o] / unit * variable for (_, o), variable in self.heed(self.run.items())]
        terms += [into[x] / unit * variable for (_, x), variable in self.heed(self.page_in.items())]
        terms += [out[x] / unit * variable for (_, x), variable in self.heed(self.page_out.items())]
        return pyo.quicksum(terms)
