"""Walks through a script of runs and moves under the memory limits, letting go and bringing back on the way."""

from collections.abc import Callable
from math import inf

from xengine_gui.model.plan import Move, Run, Step
from xengine_gui.solve.greedy.actions import Action, finished_steps, kept_devices
from xengine_gui.solve.greedy.memory import Memory
from xengine_gui.solve.greedy.release import Knobs, NoRoomError, Release
from xengine_gui.solve.greedy.tables import Tables

DEEPEST = 120
"""Recomputations nested deeper than this are given up."""
ERRANDS_PER_ACTION = 8
"""A try that brings or runs this many times as much as its script has actions is given up."""
ROUNDS = 3
"""How often the inputs of one operator are brought anew when they push each other out."""


def follow(
    tables: Tables,
    script: list[Action],
    kept: dict[int, int],
    knobs: Knobs,
    should_stop: Callable[[], bool],
) -> list[Step] | None:
    """Steps near a script that stay within all limits, or `None` where this try gets stuck.

    The script needs first computations in base order. What is not there when it is read is transferred or recomputed,
    and what is there already is not made again.
    """
    executor = _Executor(tables, script, kept, knobs)
    if any(executor.memory.room(d) < 0 for d in executor.memory.devices):
        return None
    try:
        for position, action in enumerate(script):
            if position % 64 == 0 and should_stop():
                return None
            executor.follow(position, action)
        executor.end(len(script), kept)
    except (NoRoomError, RecursionError):
        return None
    steps = executor.memory.steps
    return finished_steps(
        tables.indexed, [s for s in steps if isinstance(s, (Run, Move))], kept_devices(tables.indexed, steps)
    )


class _Executor:
    def __init__(self, tables: Tables, script: list[Action], kept: dict[int, int], knobs: Knobs) -> None:
        self.tables, self.indexed, self.knobs = tables, tables.indexed, knobs
        self.memory = Memory(tables, script, kept)
        self.release = Release(self.memory, knobs)
        self.errands_left = ERRANDS_PER_ACTION * len(script) + 200
        self.depth = 0
        self._settle(script)

    def _settle(self, script: list[Action]) -> None:
        """Parameters take their memory from the start, on the devices where the script uses them."""
        memory, indexed = self.memory, self.indexed
        for action in script:
            if isinstance(action, Run):
                memory.homes[action.device].update(indexed.parameters[action.operator])
        for device, homes in enumerate(memory.homes):
            memory.level[device] = memory.peak[device] = sum(indexed.parameter_bytes[p] for p in homes)

    # -- the script

    def follow(self, position: int, action: Action) -> None:
        """Do what the script says, however the data must be brought for it."""
        memory = self.memory
        memory.clock = 2 * position
        if isinstance(action, Move):
            key = action.destination * memory.count + action.tensor
            if not memory.is_here(key):
                self._attempt(lambda: self.bring(action.destination, action.tensor))
        elif memory.computed[action.operator]:
            base = action.device * memory.count
            if any(not memory.is_here(base + t) for t in self.indexed.outputs[action.operator]):
                self._attempt(lambda: self.run(action.device, action.operator, action.implementation))
        else:
            self._run_first(action)
        self._leave(position)

    def end(self, position: int, kept: dict[int, int]) -> None:
        """See to it that what must be there at the end is there."""
        memory = self.memory
        memory.clock = 2 * position
        for tensor, device in kept.items():
            if not any(tensor in memory.resident[d] for d in memory.devices):
                self.bring(device, tensor)
            for place in memory.devices:
                if tensor in memory.resident[place]:
                    memory.pin(place * memory.count + tensor)
                    break

    def _attempt(self, what: Callable[[], None]) -> None:
        """Something that may be left out: what is missing later will be brought then."""
        try:
            what()
        except NoRoomError:
            self.depth = 0
            self.memory.pinned.clear()

    def _run_first(self, action: Run) -> None:
        """The first computation must happen, if not where the script wants it then elsewhere."""
        device, operator, implementation = action
        times = self.tables.run_ns[operator]
        others = sorted(
            (d for d in self.tables.computing if d != device and times[d] is not None), key=lambda d: times[d] or 0
        )
        for place in [device, *others]:
            try:
                self.run(place, operator, implementation if place == device else None)
            except NoRoomError:
                self.depth = 0
                self.memory.pinned.clear()
            else:
                return
        raise NoRoomError

    def _leave(self, position: int) -> None:
        memory = self.memory
        memory.clock = 2 * position + 1
        for key in memory.due[position]:
            memory.drop_if_useless(key)

    # -- bringing

    def bring(self, device: int, tensor: int) -> None:
        """Have a tensor on a device, by the cheapest way that there is room for."""
        key = device * self.memory.count + tensor
        if self.memory.is_here(key):
            return
        self._count_errand()
        self.depth += 1
        if self.depth > DEEPEST:
            raise NoRoomError
        self.memory.pin(key)
        try:
            self._bring_by_any(device, tensor)
        finally:
            if key in self.memory.pinned:
                self.memory.unpin(key)
        self.depth -= 1

    def _count_errand(self) -> None:
        self.errands_left -= 1
        if self.errands_left < 0:
            raise NoRoomError

    def _bring_by_any(self, device: int, tensor: int) -> None:
        depth = self.depth
        ways = self._ways(device, tensor)
        for _, source, again in ways:
            try:
                self._bring_by(device, tensor, source, again=again)
            except NoRoomError:
                self.depth = depth
            else:
                return
        raise NoRoomError

    def _ways(self, device: int, tensor: int) -> list[tuple[float, int, bool]]:
        """Ways of having a tensor on a device, cheapest first: cost, where it comes from, whether recomputed there."""
        memory, indexed = self.memory, self.indexed
        operator = indexed.producer[tensor]
        ways: list[tuple[float, int, bool]] = []
        for source in memory.devices:
            copy_ns: float | None = 0 if source == device else indexed.copy_ns(source, device, tensor)
            if copy_ns is None:
                continue
            if source != device and tensor in memory.resident[source]:
                ways.append((copy_ns, source, False))
            elif self.tables.run_ns[operator][source] is not None and indexed.recomputable[operator]:
                again = self.release.recomputation(source, tensor)
                ways.append((copy_ns + (inf if again is None else again.cost_ns), source, True))
        if not ways or all(not again for _, _, again in ways):
            ways += self._relays(device, tensor)
        ways.sort(key=lambda way: way[0])
        return ways

    def _relays(self, device: int, tensor: int) -> list[tuple[float, int, bool]]:
        """Devices without the tensor through which it can come from one that has it."""
        found = []
        for through in self.memory.devices:
            last_ns = self.indexed.copy_ns(through, device, tensor) if through != device else None
            first = self.release.copy_from(through, tensor)
            if (
                last_ns is not None
                and first is not None
                and first[1] != device
                and tensor not in self.memory.resident[through]
            ):
                found.append((float(last_ns + first[0]), through, True))
        return found

    def _bring_by(self, device: int, tensor: int, source: int, *, again: bool) -> None:
        memory = self.memory
        key = source * memory.count + tensor
        if again and source != device:
            self.bring(source, tensor)
        if source == device:
            self.run(device, self.indexed.producer[tensor], None)
            return
        memory.pin(key)
        try:
            self.release.make_room(device, self.indexed.tensor_bytes[tensor])
        finally:
            if key in memory.pinned:
                memory.unpin(key)
        memory.steps.append(Move(source, device, tensor))
        memory.put(device, tensor)
        memory.peak[device] = max(memory.peak[device], memory.level[device])
        later = memory.next_need_after_now(device * memory.count + tensor)
        if later is not None and self.release.has_spare_room(source, 0):
            memory.need(key, later)
        memory.drop_if_useless(key)

    # -- running

    def run(self, device: int, operator: int, implementation: int | None) -> None:
        """Run an operator on a device once its inputs are there and there is room."""
        self._count_errand()
        self._live_here(device, operator)
        keys = [device * self.memory.count + t for t in self.indexed.inputs[operator]]
        self._bring_inputs(device, keys)
        for key in keys:
            self.memory.pin(key)
        try:
            chosen = self._choose(device, operator, implementation)
        finally:
            self._unpin(keys)
        self._emit(device, operator, chosen)
        for key in keys:
            self.memory.drop_if_useless(key)

    def _unpin(self, keys: list[int]) -> None:
        for key in keys:
            if key in self.memory.pinned:
                self.memory.unpin(key)

    def _live_here(self, device: int, operator: int) -> None:
        """Parameters take memory for the whole plan, so a device takes in more only where its past leaves room."""
        memory = self.memory
        fresh = [p for p in self.indexed.parameters[operator] if p not in memory.homes[device]]
        size = sum(self.indexed.parameter_bytes[p] for p in fresh)
        if not size:
            return
        if memory.peak[device] + size > self.tables.limit_bytes[device]:
            raise NoRoomError
        self.release.make_room(device, size)
        memory.homes[device].update(fresh)
        memory.level[device] += size
        memory.peak[device] += size

    def _bring_inputs(self, device: int, keys: list[int]) -> None:
        """Have all inputs there at once; where they push each other out, again from the start a few times."""
        memory = self.memory
        for attempt in range(ROUNDS):
            missing = [key for key in keys if not memory.is_here(key)]
            if not missing:
                return
            held = [key for key in keys if memory.is_here(key)]
            for key in held:
                memory.pin(key)
            depth = self.depth
            try:
                for key in missing:
                    self.bring(device, key % memory.count)
                    memory.pin(key)
                    held.append(key)
            except NoRoomError:
                self.depth = depth
                self._unpin(held)
                if attempt == ROUNDS - 1:
                    raise
                absent = next((key for key in keys if not memory.is_here(key)), None)
                if absent is not None:
                    self.bring(device, absent % memory.count)
            else:
                self._unpin(held)
                return
        if any(not memory.is_here(key) for key in keys):
            raise NoRoomError

    def _choose(self, device: int, operator: int, implementation: int | None) -> int:
        """An implementation for which there is room, after making it."""
        memory, rows = self.memory, self.indexed.implementations[operator][device]
        size = sum(
            self.indexed.tensor_bytes[t] for t in self.indexed.outputs[operator] if t not in memory.resident[device]
        )
        ways = self.tables.ways[operator][device]
        if not ways:
            raise NoRoomError
        if implementation is not None and ways[0] != implementation:
            ways = [implementation, *(j for j in ways if j != implementation)]
        room = memory.room(device) - size
        if self.knobs.frugal and rows[ways[0]].workspace_bytes > room:
            ways = sorted(ways, key=lambda j: rows[j].workspace_bytes)
        for way in ways:
            try:
                self.release.make_room(device, size + rows[way].workspace_bytes)
            except NoRoomError:
                continue
            return way
        raise NoRoomError

    def _emit(self, device: int, operator: int, implementation: int) -> None:
        memory = self.memory
        memory.steps.append(Run(device, operator, implementation))
        memory.computed[operator] = 1
        for tensor in self.indexed.outputs[operator]:
            memory.put(device, tensor)
        workspace = self.indexed.implementations[operator][device][implementation].workspace_bytes
        memory.peak[device] = max(memory.peak[device], memory.level[device] + workspace)
        for tensor in self.indexed.outputs[operator]:
            memory.drop_if_useless(device * memory.count + tensor)
