"""Where to watch next: the moments at which a decoded plan breaks a limit."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xengine_gui.model.plan import Run
from xengine_gui.solve.watchpoints.decode import Decoded
from xengine_gui.solve.watchpoints.points import WatchPoint


class Excess(NamedTuple):
    """A step at which a device holds more than its limit, as a share of the limit."""

    step: int
    device: int
    ratio: float


def new_points(decoded: Decoded, excesses: Iterable[Excess], points: Sequence[WatchPoint]) -> list[WatchPoint]:
    """Per segment and device the moment of the worst excess, as watch points that are not there yet.

    Where that moment is watched already, the end of its stage is taken, or the stage before, or the next worst moment.
    """
    known, found = set(points), list[WatchPoint]()
    stretches: dict[tuple[int, int], list[Excess]] = {}
    for excess in sorted(excesses, key=lambda excess: -excess.ratio):
        stretches.setdefault((decoded.marks[excess.step].segment, excess.device), []).append(excess)
    for stretch in stretches.values():
        fresh = next((p for excess in stretch for p in _candidates(decoded, excess, points) if p not in known), None)
        if fresh is not None:
            known.add(fresh)
            found.append(fresh)
    return found


def _candidates(decoded: Decoded, excess: Excess, points: Sequence[WatchPoint]) -> Iterable[WatchPoint]:
    segment, stage = decoded.marks[excess.step]
    run = _run_at(decoded, excess)
    if run is not None and run.operator < stage:
        yield WatchPoint(stage, run.operator, run.device)
        end = points[segment] if segment < len(points) else None
        anchor = (end.anchor.operator, end.anchor.device) if end is not None and not end.is_first else None
        if anchor is not None and end is not None and end.stage == stage and anchor != (run.operator, run.device):
            # It runs before the moment that watches it, because something watched earlier in the stage wants it.
            yield WatchPoint(stage, run.operator, run.device, anchor)
    yield WatchPoint(stage, stage)
    if stage > 0:
        yield WatchPoint(stage - 1, stage - 1)


def _run_at(decoded: Decoded, excess: Excess) -> Run | None:
    """The run of the excess, or where a copy causes it the next run on that device."""
    for step in decoded.steps[excess.step :]:
        if isinstance(step, Run) and step.device == excess.device:
            return step
    return None
