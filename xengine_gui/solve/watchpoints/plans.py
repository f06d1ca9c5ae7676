"""From a point of a relaxation to a plan: decoded, repaired where it breaks a limit, and what to watch next."""

from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.greedy import improve_steps, repair_steps
from xengine_gui.solve.watchpoints import settings
from xengine_gui.solve.watchpoints.decode import Decoded, UndecodableError, decode
from xengine_gui.solve.watchpoints.knowledge import Knowledge
from xengine_gui.solve.watchpoints.points import WatchPoint
from xengine_gui.solve.watchpoints.refine import Excess, new_points
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.tables import Floats


def take_point(known: Knowledge, relaxation: Relaxation, point: Floats) -> list[WatchPoint]:
    """Offer the plan of a point, repaired where it breaks a limit; the worst of its moments are to be watched next."""
    decoded = _decoded(known, relaxation, point)
    if decoded is None or _offer(known, decoded):
        return []
    stop = known.within(settings.REPAIR_SHARE * known.context.elapsed_s + settings.REPAIR_S)
    indexed = known.problem.indexed
    repaired = repair_steps(indexed, decoded.steps, stop)
    if repaired is not None:
        known.offer(improve_steps(indexed, repaired, stop))
    return new_points(decoded, _excesses(known, decoded), relaxation.segmentation.points)


def offer_point(known: Knowledge, relaxation: Relaxation, point: Floats) -> None:
    """Offer the plan of a point if it is one as it stands."""
    decoded = _decoded(known, relaxation, point)
    if decoded is not None:
        _offer(known, decoded)


def _offer(known: Knowledge, decoded: Decoded) -> bool:
    """Whether the steps keep all limits; if so they are offered."""
    valid = replay_steps(known.problem.indexed, decoded.steps).valid
    if valid:
        known.offer(decoded.steps)
    return valid


def _decoded(known: Knowledge, relaxation: Relaxation, point: Floats) -> Decoded | None:
    """Decode with copies late, early to unlimited devices, and early to all; the one with the least excess."""
    limits = known.problem.indexed.limit_bytes
    unlimited = tuple(d for d, limit in enumerate(limits) if limit is None)
    variants = dict.fromkeys([(), unlimited, tuple(range(len(limits)))] if len(limits) > 1 else [()])
    try:
        candidates = [decode(relaxation, point, roomy) for roomy in variants]
    except UndecodableError as error:
        known.context.log(f"The relaxation's point makes no plan: {error}.")
        return None
    return min(candidates, key=lambda decoded: sum(e.ratio for e in _excesses(known, decoded)))


def _excesses(known: Knowledge, decoded: Decoded) -> list[Excess]:
    limits = known.problem.indexed.limit_bytes
    replay = replay_steps(known.problem.indexed, decoded.steps)
    return [Excess(v.step, v.device, v.over_bytes / max(1, limits[v.device] or 1)) for v in replay.violations]
