"""What earlier plans and bounds of a graph are worth under other limits: totals never rise with a limit."""

from collections.abc import Iterable
from dataclasses import replace

from xengine_gui.model.plan import Clock, Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.verify import verify

STILL_BEST = "Found under other limits, and no better plan is known for these."


def best_fitting(problem: Problem, plans: Iterable[Plan]) -> Plan | None:
    """The quickest of some earlier plans that keeps every rule of `problem`, as a plan of it without a proof."""
    names = [operator.name for operator in problem.operators]
    limits = {d.name: d.memory_limit_bytes for d in problem.devices}
    candidates = [p for p in plans if p.has_events and p.clock is Clock.SERIAL and is_within(p, limits)]
    for plan in sorted(candidates, key=lambda p: p.total_ns or 0):
        if plan.problem is problem:
            return plan
        if [operator.name for operator in plan.problem.operators] != names:
            continue
        moved = replace(plan, problem=problem, status=Status.FEASIBLE, lower_bound_ns=None, explanation=STILL_BEST)
        if verify(moved).ok:
            return moved
    return None


def bound_from(problem: Problem, plans: Iterable[Plan]) -> int:
    """The highest bound that was proved where limits are no smaller and all else is the same; 0 where none was."""
    bounds = (p.lower_bound_ns or 0 for p in plans if is_looser(p.problem, problem))
    return max(bounds, default=0)


def is_looser(one: Problem, other: Problem) -> bool:
    """Whether one problem is another with limits that are no smaller, so that its bounds hold for the other."""
    same = (
        one.operators is other.operators
        and (one.links, one.transfers, one.keep) == (other.links, other.transfers, other.keep)
        and one.tensors is other.tensors
        and one.parameters == other.parameters
        and [d.name for d in one.devices] == [d.name for d in other.devices]
    )
    return same and all(
        a.memory_limit_bytes is None
        or (b.memory_limit_bytes is not None and a.memory_limit_bytes >= b.memory_limit_bytes)
        for a, b in zip(one.devices, other.devices, strict=True)
    )


def with_known(found: Plan, known: Plan | None, gap_ratio: float) -> Plan:
    """The better of what a strategy has found and a plan that was known before; the bound is the strategy's."""
    if known is None or (found.has_events and (found.total_ns or 0) <= (known.total_ns or 0)):
        return found
    bound = found.lower_bound_ns
    if bound is not None and bound > (known.total_ns or 0):
        bound = None  # a bound that a verified plan contradicts is none
    best = replace(known, lower_bound_ns=bound, runtime_s=found.runtime_s)
    closed = best.gap_ratio is not None and best.gap_ratio <= gap_ratio
    return replace(best, status=Status.OPTIMAL if closed else Status.FEASIBLE)


def is_within(plan: Plan, limits: dict[str, int | None]) -> bool:
    """Whether the devices of a plan, with their peaks, are among those of these limits and keep them."""
    return all(
        device in limits and (limits[device] is None or peak <= (limits[device] or 0))
        for device, peak in plan.peak_bytes.items()
    )
