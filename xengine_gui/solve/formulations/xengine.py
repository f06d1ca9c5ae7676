"""XEngine's program (Schuler et al., ACM TACO 2022) where a copy is a copy; numbers are those of `FORMULATIONS.md`."""

from collections.abc import Iterator
from typing import Any

# Not pyomo.environ: it cannot be imported after Qt where matplotlib is absent.
import pyomo.core as pyo
from pyomo.common.gc_manager import PauseGC

from xengine_gui.solve.formulations.building import Heed
from xengine_gui.solve.formulations.many_devices import ManyDevices, Moment

_MEMORY_SCALE = 1e4
"""A limit in the unit of its memory rows."""

_DEAREST = 1e7
"""Units of time: what is dearer than any sensible plan counts as less, since HiGHS fails on wider ranges of costs."""


def xengine_model(many: ManyDevices, heed: Heed | None = None, *, quadratic: bool = False, roomy: bool = False) -> Any:
    """The whole model: with products of two binaries in the total, or linear after their exact linearisation.

    `roomy` adds (14), room for copies before anything is freed: it loses plans, but every solution is one.
    """
    model = _XEngine(many, heed or Heed())
    with PauseGC():
        model.add_variables()
        model.add_first()
        model.add_touching()
        model.add_arrivals()
        model.add_senders()
        if quadratic:
            model.add_ways_of_copies()
            model.add_quadratic_total()
        else:
            model.add_products()
            model.add_linear_total()
        model.add_holding()
        model.add_kept()
        model.add_homes()
        model.add_levels()
        model.add_limit()
        if roomy:
            model.add_room_for_copies()
    return model.pyomo


class _XEngine:
    """The model while it is built; a method adds one family."""

    def __init__(self, many: ManyDevices, heed: Heed) -> None:
        self.many, self.indexed, self.heed = many, many.indexed, heed
        self.pyomo: Any = pyo.ConcreteModel(name="xengine")
        self.limited = [d for d in many.devices if self.indexed.limit_bytes[d] is not None]
        unit = {d: max(1, self.indexed.limit_bytes[d] or 0) / _MEMORY_SCALE for d in self.limited}
        self.unit = unit
        self.size = {d: [bytes_ / unit[d] for bytes_ in self.indexed.tensor_bytes] for d in self.limited}
        self.limit = {d: (self.indexed.limit_bytes[d] or 0) / unit[d] for d in self.limited}
        self.before: dict[tuple[int, ...], Any] = {}
        self.behind: dict[tuple[int, int, int], Any] = {}
        self.changing: dict[tuple[int, int], list[int]] = {}

    def add_variables(self) -> None:
        """(1) run, held, there, freed, sent, copied, home and level."""
        many, model = self.many, self.pyomo
        moments = [(*moment, d) for moment in self.heed(many.moments) for d in many.devices]
        rounds = [(*moment, r, d) for moment in self.heed(many.moments) for r in many.rounds for d in many.devices]
        runs = [(t, o, *way) for t, o in self.heed(many.runs) for way in many.ways[o]]
        model.run = pyo.Var(runs, domain=pyo.Binary)
        model.held = pyo.Var([(t, x, d) for t, x in many.holds for d in many.devices], domain=pyo.Binary)
        model.there = pyo.Var(moments, domain=pyo.Binary)
        model.freed = pyo.Var(moments, bounds=(0, None))
        model.sent = pyo.Var(rounds, domain=pyo.Binary)
        model.copied = pyo.Var(rounds, domain=pyo.Binary)
        model.home = pyo.Var(range(len(self.indexed.parameter_bytes)), self.limited, bounds=(0, 1))
        model.level = pyo.Var([(t, o, d) for t, o in many.runs for d in self.limited], bounds=(0, None))
        names = ("run", "held", "there", "freed", "sent", "copied", "home", "level")
        self.run, self.held, self.there, self.freed, self.sent, self.copied, self.home, self.level = (
            dict(getattr(model, name)) for name in names
        )
        self._follow()

    def _follow(self) -> None:
        """What is there before each moment, and as a stage ends."""
        self.behind = {(t - 1, x, d): 0 for t, x in self.many.holds for d in self.many.devices}
        for key, held in self.held.items():
            self.behind[key] = held
        for moment in self.heed(self.many.moments):
            t, o, x = moment
            self.changing.setdefault((t, o), []).append(x)
            for d in self.many.devices:
                self.before[(*moment, d)] = self.behind.get((t, x, d), 0)
                self.behind[t, x, d] = self.there[(*moment, d)]

    def add_linear_total(self) -> None:
        """(2) The total, in the unit of time, with the products in place of the quadratic terms."""
        copies = [self._price(t, o, x, a, b) * copy for (t, o, x, _, a, b), copy in self.heed(self.copy.items())]
        self.pyomo.total = pyo.Objective(expr=pyo.quicksum([*self._run_times(), *copies]))

    def add_quadratic_total(self) -> None:
        """(2) The total, in the unit of time: a copy is the product of who sends and who receives it."""
        copies = [
            self._price(*moment, a, b) * self.sent[(*moment, r, a)] * self.copied[(*moment, r, b)]
            for moment, r, b in self.heed(self._receivers())
            for a in self._sources(moment, b)
        ]
        self.pyomo.total = pyo.Objective(expr=pyo.quicksum([*self._run_times(), *copies]))

    def add_first(self) -> None:
        """(3) A stage's own operator runs in it; on each device an operator runs at most once in a stage."""
        first, once = pyo.Constraint(pyo.Any), pyo.Constraint(pyo.Any)
        self.pyomo.first, self.pyomo.once = first, once
        for t, o in self.heed(self.many.runs):
            everywhere = pyo.quicksum(self._run(t, o, d) for d in self.many.devices)
            if t == o:
                first[t] = everywhere >= 1 if self.indexed.recomputable[o] else everywhere == 1
            for d in self.many.devices:
                if len(self.many.ways_on(o, d)) > 1:
                    once[t, o, d] = self._run(t, o, d) <= 1

    def add_touching(self) -> None:
        """(4) What an operator reads and writes is there while it runs."""
        touching = self.pyomo.touching = pyo.Constraint(pyo.Any)
        for t, o in self.heed(self.many.runs):
            for d in self.many.devices if self.many.touched(o) else ():
                if self.many.ways_on(o, d):
                    for x in self.many.touched(o):
                        touching[t, o, x, d] = self._run(t, o, d) <= self.there[t, o, x, d]

    def add_arrivals(self) -> None:
        """(5) What is there was there before, is run or copied, and is not freed."""
        arrivals = self.pyomo.arrivals = pyo.Constraint(pyo.Any)
        for key, there in self.heed(self.there.items()):
            t, o, x, d = key
            came = [self.copied[t, o, x, r, d] for r in self.many.rounds]
            if self.indexed.producer[x] == o:
                came.append(self._run(t, o, d))
            arrivals[key] = there + self.freed[key] == self.before[key] + pyo.quicksum(came)

    def add_senders(self) -> None:
        """(6) One device at most sends a tensor in a round; it had it before, or from an earlier round."""
        one_sender, senders = pyo.Constraint(pyo.Any), pyo.Constraint(pyo.Any)
        self.pyomo.one_sender, self.pyomo.senders = one_sender, senders
        for moment in self.heed(self.many.moments):
            for r in self.many.rounds:
                one_sender[(*moment, r)] = pyo.quicksum(self.sent[(*moment, r, d)] for d in self.many.devices) <= 1
        for key, sent in self.heed(self.sent.items()):
            t, o, x, r, d = key
            earlier = pyo.quicksum(self.copied[t, o, x, q, d] for q in range(r))
            senders[key] = sent <= self.before[t, o, x, d] + earlier

    def add_ways_of_copies(self) -> None:
        """(7) Who receives a copy has a sender, and a way from it."""
        some_sender, no_way = pyo.Constraint(pyo.Any), pyo.Constraint(pyo.Any)
        self.pyomo.some_sender, self.pyomo.no_way = some_sender, no_way
        for moment, r, b in self.heed(self._receivers()):
            copied, sources = self.copied[(*moment, r, b)], self._sources(moment, b)
            some_sender[(*moment, r, b)] = copied <= pyo.quicksum(self.sent[(*moment, r, a)] for a in sources)
            for a in self.many.devices:
                if a != b and a not in sources:
                    no_way[(*moment, r, a, b)] = self.sent[(*moment, r, a)] + copied <= 1

    def add_products(self) -> None:
        """(7) The products of (2): a copy has one sender, and only where it is received."""
        keys = [(*m, r, a, b) for m, r, b in self.heed(self._receivers()) for a in self._sources(m, b)]
        self.pyomo.copy = pyo.Var(keys, bounds=(0, 1))
        self.copy = dict(self.pyomo.copy)
        by_sender, by_receiver = pyo.Constraint(pyo.Any), pyo.Constraint(pyo.Any)
        self.pyomo.copy_by_sender, self.pyomo.copy_by_receiver = by_sender, by_receiver
        for key, copy in self.heed(self.copy.items()):
            by_sender[key] = copy <= self.sent[key[:-1]]
        for moment, r, b in self.heed(self._receivers()):
            copies = pyo.quicksum(self.copy[(*moment, r, a, b)] for a in self._sources(moment, b))
            by_receiver[(*moment, r, b)] = copies == self.copied[(*moment, r, b)]

    def add_holding(self) -> None:
        """(8) What is held as a stage begins was there as the stage before ended."""
        holding = self.pyomo.holding = pyo.Constraint(pyo.Any)
        for (t, x, d), held in self.heed(self.held.items()):
            holding[t, x, d] = held <= self.behind[t - 1, x, d]

    def add_kept(self) -> None:
        """(9) What must be kept is on some device at the end."""
        kept = self.pyomo.kept = pyo.Constraint(pyo.Any)
        for x in sorted(self.indexed.keep):
            last = (self.behind.get((self.many.stage_count - 1, x, d), 0) for d in self.many.devices)
            kept[x] = pyo.quicksum(last) >= 1

    def add_homes(self) -> None:
        """(10) A parameter lives on every device that runs an operator which uses it."""
        homes = self.pyomo.homes = pyo.Constraint(pyo.Any)
        for t, o in self.heed(self.many.runs):
            for d in self.limited:
                for p in self.indexed.parameters[o] if self.many.ways_on(o, d) else ():
                    homes[t, o, p, d] = self._run(t, o, d) <= self.home[p, d]

    def add_levels(self) -> None:
        """(11) The level of each device while an operator runs: as before it, with what came and what was freed."""
        levels = self.pyomo.levels = pyo.Constraint(pyo.Any)
        for t, o, before in self.heed(self._steps()):
            for d in self.limited:
                change = (
                    self.size[d][x] * (self.there[t, o, x, d] - self.before[t, o, x, d])
                    for x in self.changing.get((t, o), ())
                )
                levels[t, o, d] = self.level[t, o, d] == self._level_behind(t, before, d) + pyo.quicksum(change)

    def add_limit(self) -> None:
        """(12) Tensors, workspace and parameters of each device stay within its limit."""
        limit = self.pyomo.limit = pyo.Constraint(pyo.Any)
        for (t, o, d), level in self.heed(self.level.items()):
            workspaces = (
                (self.many.workspace_bytes(o, way), self.run[(t, o, *way)]) for way in self.many.ways_on(o, d)
            )
            workspace = pyo.quicksum(bytes_ / self.unit[d] * run for bytes_, run in workspaces if bytes_)
            limit[t, o, d] = level + workspace + self._parameters(d) <= self.limit[d]

    def add_room_for_copies(self) -> None:
        """(13) What is copied before an operator has room beside all that was there."""
        room = self.pyomo.room_for_copies = pyo.Constraint(pyo.Any)
        for t, o, before in self.heed(self._steps()):
            for d in self.limited:
                copied = pyo.quicksum(
                    self.size[d][x] * self.copied[t, o, x, r, d]
                    for x in self.changing.get((t, o), ())
                    for r in self.many.rounds
                )
                room[t, o, d] = self._level_behind(t, before, d) + copied + self._parameters(d) <= self.limit[d]

    def _run_times(self) -> Iterator[Any]:
        unit = self.many.time_unit_ns
        for (_, o, d, j), run in self.heed(self.run.items()):
            yield min(_DEAREST, self.indexed.implementations[o][d][j].time_ns / unit) * run

    def _price(self, _stage: int, _operator: int, tensor: int, source: int, destination: int) -> float:
        return min(_DEAREST, (self.indexed.copy_ns(source, destination, tensor) or 0) / self.many.time_unit_ns)

    def _receivers(self) -> Iterator[tuple[Moment, int, int]]:
        return ((m, r, d) for m in self.many.moments for r in self.many.rounds for d in self.many.devices)

    def _sources(self, moment: Moment, destination: int) -> list[int]:
        """The devices from which there is a way to another for a tensor."""
        ways = (self.indexed.copy_ns(a, destination, moment.tensor) is not None for a in self.many.devices)
        return [a for a, is_way in enumerate(ways) if is_way and a != destination]

    def _run(self, stage: int, operator: int, device: int) -> Any:
        return pyo.quicksum(self.run[(stage, operator, *way)] for way in self.many.ways_on(operator, device))

    def _parameters(self, device: int) -> Any:
        sizes = self.indexed.parameter_bytes
        return pyo.quicksum(bytes_ / self.unit[device] * self.home[p, device] for p, bytes_ in enumerate(sizes))

    def _steps(self) -> Iterator[tuple[int, int, int]]:
        """Each slot with the one before it in its stage, -1 where it is the first."""
        for stage, slots in enumerate(self.many.slots):
            yield from ((stage, operator, slots[i - 1] if i else -1) for i, operator in enumerate(slots))

    def _level_behind(self, stage: int, operator: int, device: int) -> Any:
        if operator >= 0:
            return self.level[stage, operator, device]
        size = self.size[device]
        held = ((x, self.held.get((stage, x, device))) for x in range(self.indexed.tensor_count))
        return pyo.quicksum(size[x] * variable for x, variable in held if variable is not None)
