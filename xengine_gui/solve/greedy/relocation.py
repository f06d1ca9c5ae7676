"""Running one operator of a draft on another device; it does not come back to a device that it has left."""

from xengine_gui.model.plan import Move, Run
from xengine_gui.solve.greedy.actions import action_ns
from xengine_gui.solve.greedy.bringing import Bringing
from xengine_gui.solve.greedy.draft import Draft


def relocation(draft: Draft, slot: int, device: int) -> tuple[float, int] | None:
    """What running the operator at a slot on another device adds to the total and frees there then, `None`: impossible.

    Inputs that nothing else reads later leave before, results come back after: one of the two is there at any moment.
    """
    run = draft.at[slot]
    if not isinstance(run, Run) or (time_ns := draft.tables.run_ns[run.operator][device]) is None:
        return None
    too_large = draft.tables.operator_bytes(run.operator, device) > draft.tables.limit_bytes[device]
    if too_large or (run.operator, device) in draft.left:
        return None
    indexed, size = draft.indexed, draft.indexed.tensor_bytes
    cost: float = time_ns - action_ns(indexed, run)
    bringing = Bringing(draft, slot)
    leaving = returning = staying = 0
    for tensor in indexed.inputs[run.operator]:
        if not bringing.is_there(device * draft.count + tensor):
            copy_ns = indexed.copy_ns(run.device, device, tensor)
            if copy_ns is None:
                return None
            cost += copy_ns
        leaving += 0 if draft.readers(run.device * draft.count + tensor, slot) else size[tensor]
    for tensor in indexed.outputs[run.operator]:
        reads = draft.readers(run.device * draft.count + tensor, slot)
        there = [r for r in reads if _goes_to(draft, r, device)]
        cost -= sum(indexed.copy_ns(run.device, device, tensor) or 0 for _ in there)
        if len(reads) == len(there):
            staying += size[tensor]
            continue
        returning += size[tensor]
        copy_ns = indexed.copy_ns(device, run.device, tensor)
        if copy_ns is None:
            return None
        cost += copy_ns
    return cost, min(leaving, returning) + staying + draft.workspace(run)


def _goes_to(draft: Draft, slot: int, device: int) -> bool:
    action = draft.at[slot]
    return isinstance(action, Move) and action.destination == device


def relocate(draft: Draft, slot: int, device: int) -> None:
    """Run the operator at a slot on another device: inputs are moved there, results back before they are read."""
    run = draft.at[slot]
    if not isinstance(run, Run):
        return
    bringing = Bringing(draft, slot)
    here, there = run.device * draft.count, device * draft.count
    # Chosen before any is moved: what is moved takes the room in which another is thought to stay.
    for tensor in [t for t in draft.indexed.inputs[run.operator] if not bringing.is_there(there + t)]:
        draft.put(draft.empty_before(slot, 1), Move(run.device, device, tensor))
    place = draft.empty_after(slot)
    draft.put(place, Run(device, run.operator, draft.tables.ways[run.operator][device][0]))
    if draft.first[slot]:
        draft.hand_over(slot, place)
    for tensor in draft.indexed.outputs[run.operator]:
        reads = draft.readers(here + tensor, slot)
        for read in reads:
            if _goes_to(draft, read, device):
                draft.take(read)
        reads = [read for read in reads if draft.at[read] is not None or read == draft.end]
        if reads:
            draft.put(draft.empty_before(reads[0], 1), Move(device, run.device, tensor))
    draft.take(slot)
    draft.left.add((run.operator, run.device))
