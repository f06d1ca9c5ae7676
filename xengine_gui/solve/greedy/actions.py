"""Steps without frees: a row of runs and moves says by itself when each tensor can be freed.

A *key* is `device * tensor_count + tensor`, one number for a tensor on a device. Every read of a key is served by the
latest run or move before it that put the tensor there, so between its last read and the next creation a key is freed:
no other choice of frees holds less at any moment.
"""

from collections.abc import Iterable, Sequence

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Drop, Move, Run, Step

Action = Run | Move
"""A step that takes time."""


def reads_of(indexed: IndexedProblem, action: Action) -> list[int]:
    """The keys that must be there for an action."""
    if isinstance(action, Move):
        return [action.source * indexed.tensor_count + action.tensor]
    base = action.device * indexed.tensor_count
    return [base + t for t in indexed.inputs[action[1]]]


def creations_of(indexed: IndexedProblem, action: Action) -> list[int]:
    """The keys that are there after an action."""
    if isinstance(action, Move):
        return [action.destination * indexed.tensor_count + action.tensor]
    base = action.device * indexed.tensor_count
    return [base + t for t in indexed.outputs[action[1]]]


def action_ns(indexed: IndexedProblem, action: Action) -> int:
    """The time that an action takes."""
    if isinstance(action, Run):
        return indexed.implementations[action.operator][action.device][action.implementation].time_ns
    time_ns = indexed.copy_ns(*action)
    if time_ns is None:
        raise ValueError(f"there is no way for {action}")
    return time_ns


def total_ns(indexed: IndexedProblem, steps: Iterable[Step]) -> int:
    """The serial total of steps."""
    return sum(action_ns(indexed, s) for s in steps if not isinstance(s, Drop))


def actions_of(steps: Iterable[Step]) -> list[Action]:
    """Steps without their frees."""
    return [s for s in steps if not isinstance(s, Drop)]


def kept_devices(indexed: IndexedProblem, steps: Sequence[Step]) -> dict[int, int]:
    """Where each tensor that must be there at the end is held then: where it was put last, if it is there still."""
    here: dict[int, dict[int, int]] = {t: {} for t in indexed.keep}
    last: dict[int, int] = {}
    for position, step in enumerate(steps):
        if isinstance(step, Drop):
            if step.tensor in here:
                here[step.tensor].pop(step.device, None)
            continue
        for key in creations_of(indexed, step):
            device, tensor = divmod(key, indexed.tensor_count)
            if tensor in here:
                here[tensor].setdefault(device, position)
                last[tensor] = device
    found = {t: max(places, key=lambda d: places[d]) for t, places in here.items() if places}
    return last | found


def first_runs(actions: Sequence[Action]) -> set[int]:
    """Positions of the first computation of each operator."""
    seen: set[int] = set()
    first = set()
    for position, action in enumerate(actions):
        if isinstance(action, Run) and action.operator not in seen:
            seen.add(action.operator)
            first.add(position)
    return first


def finished_steps(indexed: IndexedProblem, actions: Sequence[Action], kept: dict[int, int]) -> list[Step]:
    """Actions without the useless ones, with every free as early as it can be."""
    first = first_runs(actions)
    alive = {device * indexed.tensor_count + tensor for tensor, device in kept.items()}
    backwards: list[Step] = []
    for position in range(len(actions) - 1, -1, -1):
        action = actions[position]
        made = creations_of(indexed, action)
        if position not in first and alive.isdisjoint(made):
            continue
        freed = [key for key in made if key not in alive]
        alive.difference_update(made)
        for key in reads_of(indexed, action):
            if key not in alive:
                alive.add(key)
                freed.append(key)
        backwards += [Drop(*divmod(key, indexed.tensor_count)) for key in reversed(freed)]
        backwards.append(action)
    backwards.reverse()
    return backwards
