"""Plans at once: scripts from several placements, followed with several ways of choosing, the best kept."""

from collections.abc import Callable, Iterator, Sequence

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Move, Run, Step
from xengine_gui.solve.greedy.actions import Action, actions_of, kept_devices, total_ns
from xengine_gui.solve.greedy.executor import follow
from xengine_gui.solve.greedy.release import Knobs
from xengine_gui.solve.greedy.tables import Tables
from xengine_gui.solve.placement import single_device_placements, unlimited_placement


def script_of(tables: Tables, placement: list[int]) -> tuple[list[Action], dict[int, int]]:
    """Every operator once where the placement says, each tensor moved before its first reader elsewhere; where tensors end."""
    indexed = tables.indexed
    script: list[Action] = []
    moved: set[tuple[int, int]] = set()
    for operator, device in enumerate(placement):
        for tensor in indexed.inputs[operator]:
            source = placement[indexed.producer[tensor]]
            if (
                source != device
                and (tensor, device) not in moved
                and indexed.copy_ns(source, device, tensor) is not None
            ):
                moved.add((tensor, device))
                script.append(Move(source, device, tensor))
        script.append(Run(device, operator, tables.ways[operator][device][0]))
    return script, {t: placement[indexed.producer[t]] for t in indexed.keep}


def placements(tables: Tables) -> Iterator[list[int]]:
    """Placements worth a try, each once: the unlimited one, and everything on one device."""
    seen: set[tuple[int, ...]] = set()
    for placement in (unlimited_placement(tables.indexed), *single_device_placements(tables.indexed)):
        if placement.device not in seen:
            seen.add(placement.device)
            yield list(placement.device)


def greedy_steps(indexed: IndexedProblem, should_stop: Callable[[], bool], *, effort: int = 1) -> list[Step] | None:
    """Steps that stay within all limits, or `None` where no try finds any; more `effort` tries more."""
    tables = Tables(indexed)
    best: list[Step] | None = None
    for placement in placements(tables):
        script, kept = script_of(tables, placement)
        for power in (0.5, 0.0, 0.25, 1.0, 2.0):
            steps = follow(tables, script, kept, Knobs(power), should_stop)
            if steps is not None and (best is None or total_ns(indexed, steps) < total_ns(indexed, best)):
                best = steps
            if best is not None and not effort:
                return best
    return best


def repair_steps(indexed: IndexedProblem, steps: Sequence[Step], should_stop: Callable[[], bool]) -> list[Step] | None:
    """A valid plan near steps that break limits, or `None`."""
    tables = Tables(indexed)
    script, kept = actions_of(steps), kept_devices(indexed, steps)
    best: list[Step] | None = None
    for power in (0.5, 0.0, 0.25, 1.0, 2.0):
        found = follow(tables, script, kept, Knobs(power), should_stop)
        if found is not None and (best is None or total_ns(indexed, found) < total_ns(indexed, best)):
            best = found
    return best


def improve_steps(indexed: IndexedProblem, steps: Sequence[Step], should_stop: Callable[[], bool]) -> list[Step]:
    """Steps that are no worse and as valid."""
    return list(steps)
