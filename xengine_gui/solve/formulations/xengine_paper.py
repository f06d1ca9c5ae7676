"""XEngine's program as its paper has it (Schuler et al., ACM TACO 2022); numbers are those of `FORMULATIONS.md`.

A remote read is paid at every use and takes no memory at the reader.
"""

from collections.abc import Iterator
from typing import Any

# Not pyomo.environ: it cannot be imported after Qt where matplotlib is absent.
import pyomo.core as pyo
from pyomo.common.gc_manager import PauseGC

from xengine_gui.solve.formulations.building import Heed
from xengine_gui.solve.formulations.paper_schedule import PaperProblem, PaperSchedule

_MEMORY_SCALE = 1e4
"""A limit in the unit of its memory rows."""


def paper_model(paper: PaperProblem, heed: Heed | None = None, *, quadratic: bool = False) -> Any:
    """The whole model: with products of two binaries in the total, or linear after their exact linearisation."""
    model = _Paper(paper, heed or Heed())
    with PauseGC():
        model.add_variables()
        model.add_first()
        model.add_inputs()
        model.add_holding()
        model.add_kept()
        model.add_presence()
        model.add_frees()
        if not paper.as_printed:
            model.add_brought()
        model.add_levels()
        model.add_homes()
        model.add_limit()
        model.add_total(quadratic=quadratic)
    return model.pyomo


def schedule_of(model: Any) -> PaperSchedule:
    """The schedule of the model's present solution."""
    runs = frozenset(key for key, run in model.run.items() if run.value > 0.5)
    return PaperSchedule(runs, frozenset(key for key, held in model.held.items() if held.value > 0.5))


class _Paper:
    """The model while it is built; a method adds one family."""

    def __init__(self, paper: PaperProblem, heed: Heed) -> None:
        self.paper, self.indexed, self.heed = paper, paper.indexed, heed
        self.pyomo: Any = pyo.ConcreteModel(name="xengine_paper")
        limits = self.indexed.limit_bytes
        self.limited = [d for d in paper.devices if limits[d] is not None]
        self.unit = {d: max(1, limits[d] or 0) / _MEMORY_SCALE for d in self.limited}

    def add_variables(self) -> None:
        """(1) run, held, there, freed, brought, home and level."""
        paper, model = self.paper, self.pyomo
        places = list(self._places())
        freed = [(t, o, x, d) for t, o in paper.runs for x in self._freeable(o) for d in paper.devices]
        model.run = pyo.Var(
            [(t, o, d) for t, o in paper.runs for d in paper.devices if paper.can_run(o, d)], domain=pyo.Binary
        )
        model.held = pyo.Var([(t, x, d) for t, x in paper.holds for d in paper.devices], domain=pyo.Binary)
        model.there = pyo.Var(places, domain=pyo.Binary)
        model.freed = pyo.Var(freed, domain=pyo.Binary)
        model.brought = pyo.Var([] if self.paper.as_printed else places, bounds=(0, 1))
        model.home = pyo.Var(range(len(self.indexed.parameter_bytes)), self.limited, bounds=(0, 1))
        model.level = pyo.Var([(t, o, d) for t, o in paper.runs for d in self.limited], bounds=(0, None))
        names = ("run", "held", "there", "freed", "brought", "home", "level")
        self.run, self.held, self.there, self.freed, self.brought, self.home, self.level = (
            dict(getattr(model, name)) for name in names
        )

    def add_total(self, *, quadratic: bool) -> None:
        """(2) The total: a reader pays for the copy from every other device where the tensor is in the stage."""
        unit = self.paper.time_unit_ns
        terms = [self.paper.time_ns(o, d) / unit * run for (_, o, d), run in self.heed(self.run.items())]
        product = None if quadratic else self._add_products()
        for t, o, x, a, b in self.heed(self._remote_reads()):
            price = (self.paper.price_ns(o, x, a, b) or 0) / unit
            both = self.run[t, o, b] * self.there[t, x, a] if product is None else product[t, o, x, a, b]
            terms.append(price * both)
        self.pyomo.total = pyo.Objective(expr=pyo.quicksum(terms))

    def _add_products(self) -> dict[tuple[int, ...], Any]:
        """(3) The products of (2), as small as they may be; who does not have a tensor pays for it somewhere."""
        self.pyomo.copy = pyo.Var(list(self._remote_reads()), bounds=(0, 1))
        both = self.pyomo.both = pyo.Constraint(pyo.Any)
        products = dict(self.pyomo.copy)
        for (t, o, x, a, b), product in self.heed(products.items()):
            both[t, o, x, a, b] = product >= self.run[t, o, b] + self.there[t, x, a] - 1
        remote = self.pyomo.paid_somewhere = pyo.Constraint(pyo.Any)
        for (t, o, b), run in self.heed(self.run.items()):
            for x in self.indexed.inputs[o]:
                keys = ((t, o, x, a, b) for a in self.paper.devices)
                paid = pyo.quicksum(products[key] for key in keys if key in products)
                remote[t, o, x, b] = paid >= run - self._run_or_held(t, x, b)
        return products

    def add_first(self) -> None:
        """(4) A stage's own operator runs in it, on one device; any other on one at most."""
        first, again = pyo.Constraint(pyo.Any), pyo.Constraint(pyo.Any)
        self.pyomo.first, self.pyomo.again = first, again
        for t, o in self.heed(self.paper.runs):
            everywhere = pyo.quicksum(self._run(t, o, d) for d in self.paper.devices)
            if t == o:
                first[t] = everywhere == 1
            elif not self.paper.as_printed:
                again[t, o] = everywhere <= 1

    def add_inputs(self) -> None:
        """(5) An operator runs where each input is on a device from which there is a way."""
        inputs = self.pyomo.inputs = pyo.Constraint(pyo.Any)
        for (t, o, b), run in self.heed(self.run.items()):
            for x in self.indexed.inputs[o]:
                sources = [a for a in self.paper.devices if a == b or self.paper.price_ns(o, x, a, b) is not None]
                inputs[t, o, x, b] = run <= pyo.quicksum(self._run_or_held(t, x, a) for a in sources)

    def add_holding(self) -> None:
        """(6) What is held as a stage begins was held or run there in the stage before."""
        holding = self.pyomo.holding = pyo.Constraint(pyo.Any)
        for (t, x, d), held in self.heed(self.held.items()):
            holding[t, x, d] = held <= self._run_or_held(t - 1, x, d)

    def add_kept(self) -> None:
        """(7) What must be kept is held or run in the last stage."""
        kept = self.pyomo.kept = pyo.Constraint(pyo.Any)
        last = self.paper.stage_count - 1
        for x in sorted(self.indexed.keep):
            kept[x] = pyo.quicksum(self._run_or_held(last, x, d) for d in self.paper.devices) >= 1

    def add_presence(self) -> None:
        """(8) A tensor is on a device in a stage where it is held or run."""
        most, run, held = pyo.Constraint(pyo.Any), pyo.Constraint(pyo.Any), pyo.Constraint(pyo.Any)
        self.pyomo.there_at_most, self.pyomo.there_if_run, self.pyomo.there_if_held = most, run, held
        for (t, x, d), there in self.heed(self.there.items()):
            most[t, x, d] = there <= self._run_or_held(t, x, d)
            run[t, x, d] = there >= self._run(t, self.indexed.producer[x], d)
            held[t, x, d] = there >= self.held.get((t, x, d), 0)

    def add_frees(self) -> None:
        """(9) A tensor is freed behind an operator where no hazard speaks against it, and only there."""
        least, most = pyo.Constraint(pyo.Any), pyo.Constraint(pyo.Any)
        self.pyomo.freed_without_hazard, self.pyomo.kept_with_hazard = least, most
        for (t, o, x, d), freed in self.heed(self.freed.items()):
            hazards = list(self._hazards(t, o, x, d))
            least[t, o, x, d] = 1 - freed <= pyo.quicksum(hazards)
            most[t, o, x, d] = pyo.quicksum(hazards) <= len(hazards) * (1 - freed)

    def _hazards(self, stage: int, operator: int, tensor: int, device: int) -> Iterator[Any]:
        """What speaks against a free: the operator does not run, the tensor is held on, or somebody reads it later."""
        paper = self.paper
        readers = [r for r in self.indexed.consumers[tensor] if operator < r and (stage, r) in paper.run_set]
        held_on = self.held.get((stage + 1, tensor, device), 0)
        is_last = stage == paper.stage_count - 1
        yield 1 if is_last and tensor in self.indexed.keep else held_on
        if self.paper.as_printed:
            yield 1 - self._run(stage, operator, device)
            yield from (self._run(stage, r, device) for r in readers)
            return
        yield 1 - pyo.quicksum(self._run(stage, operator, e) for e in paper.devices)
        yield 1 - self.there[stage, tensor, device]
        yield from (pyo.quicksum(self._run(stage, r, e) for e in paper.devices) for r in readers)

    def add_brought(self) -> None:
        """(10) A run brings those of its results that are not held."""
        anew, only, twice = pyo.Constraint(pyo.Any), pyo.Constraint(pyo.Any), pyo.Constraint(pyo.Any)
        self.pyomo.brought_anew, self.pyomo.brought_by_run, self.pyomo.brought_or_held = anew, only, twice
        for (t, x, d), brought in self.heed(self.brought.items()):
            run, held = self._run(t, self.indexed.producer[x], d), self.held.get((t, x, d), 0)
            anew[t, x, d] = brought >= run - held
            only[t, x, d] = brought <= run
            twice[t, x, d] = brought + held <= 1

    def add_levels(self) -> None:
        """(11) The level of each device, operator by operator, never below 0, also as a stage ends but the last."""
        levels, ends = pyo.Constraint(pyo.Any), pyo.Constraint(pyo.Any)
        self.pyomo.levels, self.pyomo.ends = levels, ends
        for t, slots in enumerate(self.paper.slots):
            for d in self.limited:
                size = [bytes_ / self.unit[d] for bytes_ in self.indexed.tensor_bytes]
                behind = pyo.quicksum(size[x] * self.held[t, x, d] for x in range(len(size)) if (t, x, d) in self.held)
                for o in self.heed(slots):
                    brought = (size[x] * self._brought(t, x, d) for x in self.indexed.outputs[o])
                    levels[t, o, d] = self.level[t, o, d] == behind + pyo.quicksum(brought)
                    freed = (size[x] * self.freed[t, o, x, d] for x in self._freeable(o))
                    behind = self.level[t, o, d] - pyo.quicksum(freed)
                if slots and slots[-1] < self.indexed.operator_count - 1:
                    ends[t, d] = behind >= 0

    def add_homes(self) -> None:
        """(12) A parameter lives on every device that runs an operator which uses it."""
        homes = self.pyomo.homes = pyo.Constraint(pyo.Any)
        for (t, o, d), run in self.heed(self.run.items()):
            for p in self.indexed.parameters[o] if d in self.limited else ():
                homes[t, o, p, d] = run <= self.home[p, d]

    def add_limit(self) -> None:
        """(13) Tensors, workspace and parameters of each device stay within its limit."""
        limit = self.pyomo.limit = pyo.Constraint(pyo.Any)
        sizes = self.indexed.parameter_bytes
        for (t, o, d), level in self.heed(self.level.items()):
            unit, most = self.unit[d], self.indexed.limit_bytes[d] or 0
            workspace = self.paper.workspace_bytes(o, d) / unit if self.paper.can_run(o, d) else 0
            parameters = pyo.quicksum(bytes_ / unit * self.home[p, d] for p, bytes_ in enumerate(sizes))
            limit[t, o, d] = level + workspace * self._run(t, o, d) + parameters <= most / unit

    def _places(self) -> Iterator[tuple[int, int, int]]:
        """Every stage, tensor and device where the tensor may be in the stage."""
        held = set(self.paper.holds)
        for t in range(self.paper.stage_count):
            for x, producer in self.heed(enumerate(self.indexed.producer)):
                if (t, x) in held or (t, producer) in self.paper.run_set:
                    yield from ((t, x, d) for d in self.paper.devices)

    def _remote_reads(self) -> Iterator[tuple[int, int, int, int, int]]:
        for t, o, b in self.run:
            for x in self.indexed.inputs[o]:
                for a in self.paper.devices:
                    if a != b and (t, x, a) in self.there and self.paper.price_ns(o, x, a, b) is not None:
                        yield t, o, x, a, b

    def _freeable(self, operator: int) -> tuple[int, ...]:
        return self.indexed.inputs[operator] if self.paper.as_printed else self.paper.touched(operator)

    def _run(self, stage: int, operator: int, device: int) -> Any:
        return self.run.get((stage, operator, device), 0)

    def _run_or_held(self, stage: int, tensor: int, device: int) -> Any:
        held = self.held.get((stage, tensor, device), 0)
        return self._run(stage, self.indexed.producer[tensor], device) + held

    def _brought(self, stage: int, tensor: int, device: int) -> Any:
        run = self._run(stage, self.indexed.producer[tensor], device)
        return run if self.paper.as_printed else self.brought[stage, tensor, device]
