"""MOCCASIN's model (Bartan et al., ICML 2023) in CP-SAT; numbers are those of `MOCCASIN.md`.

OR-Tools is loaded with this module, so only planning imports it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ortools.sat.python import cp_model

from xengine_gui.model.plan import Run
from xengine_gui.solve.formulations.one_device import OneDevice
from xengine_gui.solve.moccasin.units import Way, units_of


class RetentionModel:
    """Retention intervals of every tensor over the staged moments of a problem on one device.

    `computations[o]` is the most that operator o may be computed. Moments are positions in `one.runs`; behind them
    stands `end`, where tensors to keep must be there. `starts[o][i]` is the moment of computation i of operator o,
    `active[o][i]` whether there is one, `chosen[o][i]` by which of its ways, `ends[x][i]` the last moment at which its
    tensor x is retained.
    Making it may be left by an exception that `asked` raises; it is called for every operator.
    """

    def __init__(self, one: OneDevice, computations: Sequence[int], asked: Callable[[], None] = lambda: None) -> None:
        self.one = one
        self.units = units_of(one, computations)
        self.end = len(one.runs)
        self.model = cp_model.CpModel()
        self.moments: list[list[int]] = [[] for _ in range(one.indexed.operator_count)]
        for moment, (_, operator) in enumerate(one.runs):
            self.moments[operator].append(moment)
        self.starts: list[list[Any]] = []
        self.active: list[list[Any]] = []
        self.chosen: list[list[list[Any]]] = []
        self.ends: list[list[Any]] = [[] for _ in range(one.indexed.tensor_count)]
        self._intervals: list[tuple[Any, int]] = []
        for operator, most in enumerate(computations):
            asked()
            self._add_computations(operator, most)
        for operator, outputs in enumerate(one.indexed.outputs):
            asked()
            for tensor in outputs:
                self._add_retention(operator, tensor)
            self._add_ways(operator)
        for operator in range(one.indexed.operator_count):
            asked()
            self._add_inputs(operator)
        self._add_kept()
        self.excess = self._add_limit()

    def minimise_excess(self) -> None:
        """(9) Phase 1: how far memory passes the limit; the plan without recomputation is its hint."""
        self.model.minimize(self.excess)
        for operator, tensors in enumerate(self.one.indexed.outputs):
            for active in self.active[operator][1:]:
                self.model.add_hint(active, 0)
            for tensor in tensors:
                if not isinstance(self.ends[tensor][0], int):
                    self.model.add_hint(self.ends[tensor][0], self._last_use(tensor))

    def minimise_total(self, hint: Sequence[int]) -> None:
        """(1) and (8) Phase 2: the total, within the limit; `hint` are the values of `variables` in phase 1."""
        self.model.add(self.excess == 0)
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        for variable, value in zip(self.variables, hint, strict=True):
            self.model.add_hint(variable, value)
        self.model.clear_objective()  # type: ignore[no-untyped-call]
        self.model.minimize(sum(way.time * chosen for way, chosen in self._choices()))

    @property
    def variables(self) -> list[Any]:
        """The variables that decide a plan: starts, whether active, ways, ends."""
        rows = (*self.starts, *self.active, *self.ends, *(row for rows in self.chosen for row in rows))
        # A tensor that nobody reads ends where it starts, and one way is chosen when active: in the same variables.
        found = {variable.index: variable for row in rows for variable in row if not isinstance(variable, int)}
        return list(found.values())

    def runs_of(self, values: Sequence[int]) -> list[Run]:
        """What is computed, in its order, from the values of `variables`."""
        value = {variable.index: v for variable, v in zip(self.variables, values, strict=True)}

        def of(variable: Any) -> int:
            return variable if isinstance(variable, int) else value[variable.index]

        moments: dict[int, Run] = {}
        for operator, row in enumerate(self.chosen):
            for start, choices in zip(self.starts[operator], row, strict=True):
                for way, chosen in zip(self.units.ways[operator], choices, strict=True):
                    if of(chosen):
                        moments[of(start)] = Run(self.one.device, operator, way.implementation)
        return [moments[moment] for moment in sorted(moments)]

    def _choices(self) -> Iterator[tuple[Way, Any]]:
        for ways, rows in zip(self.units.ways, self.chosen, strict=True):
            for row in rows:
                yield from zip(ways, row, strict=True)

    def _last_use(self, tensor: int) -> int:
        if tensor in self.one.indexed.keep:
            return self.end
        users = (self.one.indexed.producer[tensor], *self.one.indexed.consumers[tensor])
        return max(self.moments[user][0] for user in users)

    def _add_computations(self, operator: int, most: int) -> None:
        """(2) and (3) The first at its fixed moment, the others later, one after the other, at stages' moments."""
        moments = self.moments[operator]
        starts: list[Any] = [moments[0]]
        active: list[Any] = [1]
        for i in range(1, min(most, len(moments))):
            start = self.model.new_int_var_from_domain(
                cp_model.Domain.from_values(moments[i:]), f"start {operator} {i}"
            )
            again = self.model.new_bool_var(f"active {operator} {i}")
            self.model.add(start > starts[-1]).only_enforce_if(again)
            if i > 1:
                self.model.add_implication(again, active[-1])
            starts.append(start)
            active.append(again)
        self.starts.append(starts)
        self.active.append(active)

    def _add_retention(self, operator: int, tensor: int) -> None:
        """(4) and (5) One interval per computation, from there to some later moment, before the next computation."""
        readers = self.one.indexed.consumers[tensor]
        last_use = max((self.moments[reader][-1] for reader in readers), default=-1)
        last_use = self.end if tensor in self.one.indexed.keep else last_use
        ends = self.ends[tensor]
        for i, (start, active) in enumerate(zip(self.starts[operator], self.active[operator], strict=True)):
            end: Any = start
            length: Any = 1
            earliest = self.moments[operator][i]
            if last_use > earliest:
                # Not the moments of uses alone: CP-SAT's presolve takes long over domains with many holes.
                own_last = self.moments[operator][-1] if i else earliest
                end = self.model.new_int_var(earliest, max(last_use, own_last), f"end {tensor} {i}")
                length = self.model.new_int_var(1, self.end + 1, "")
            if i:
                self.model.add(ends[-1] < start).only_enforce_if(active)
            ends.append(end)
            interval = self.model.new_optional_interval_var(start, length, end + 1, active, "")
            if self.units.tensors[tensor]:
                self._intervals.append((interval, self.units.tensors[tensor]))

    def _add_ways(self, operator: int) -> None:
        """(6) Each computation goes one way, which takes its workspace at that moment."""
        ways = self.units.ways[operator]
        rows: list[list[Any]] = []
        for start, active in zip(self.starts[operator], self.active[operator], strict=True):
            row = [active]
            if len(ways) > 1:
                row = [self.model.new_bool_var("") for _ in ways]
                self.model.add(sum(row) == active)
            for way, chosen in zip(ways, row, strict=True):
                if way.workspace:
                    interval = self.model.new_optional_fixed_size_interval_var(start, 1, chosen, "")
                    self._intervals.append((interval, way.workspace))
            rows.append(row)
        self.chosen.append(rows)

    def _add_inputs(self, reader: int) -> None:
        """(7) Each input of a computation is retained at its moment, by one interval."""
        for tensor in self.one.indexed.inputs[reader]:
            producer = self.one.indexed.producer[tensor]
            for k, (moment, active) in enumerate(zip(self.starts[reader], self.active[reader], strict=True)):
                covers = []
                for i, start in enumerate(self.starts[producer]):
                    if k == 0 and self.moments[producer][i] > moment:
                        break
                    cover = self._cover(producer, tensor, i, moment)
                    self.model.add(start < moment).only_enforce_if(cover)
                    covers.append(cover)
                self.model.add(sum(covers) == active)

    def _add_kept(self) -> None:
        """(7) at the end, for the tensors to keep."""
        for tensor in sorted(self.one.indexed.keep):
            producer = self.one.indexed.producer[tensor]
            covers = [self._cover(producer, tensor, i, self.end) for i in range(len(self.starts[producer]))]
            self.model.add_exactly_one(covers)

    def _cover(self, producer: int, tensor: int, i: int, moment: Any) -> Any:
        """Whether interval i of a tensor reaches a moment."""
        cover = self.model.new_bool_var("")
        if i:
            self.model.add_implication(cover, self.active[producer][i])
        self.model.add(moment <= self.ends[tensor][i]).only_enforce_if(cover)
        return cover

    def _add_limit(self) -> Any:
        """(8) What intervals take together stays within the room and an excess, which phase 2 forbids."""
        room = self.units.room
        workspaces = [way.workspace for ways in self.units.ways for way in ways]
        most = 0 if room is None else max(0, sum(self.units.tensors) + max(workspaces, default=0) - room)
        excess = self.model.new_int_var(0, most, "excess")
        if room is not None and self._intervals:
            intervals, sizes = zip(*self._intervals, strict=True)
            self.model.add_cumulative(intervals, sizes, excess + room)
        return excess
