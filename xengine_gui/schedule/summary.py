"""The figures of a plan that people compare."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xengine_gui.model.plan import Clock, Compute, Plan, Status, Transfer
from xengine_gui.schedule.clock import overlapped_events, steps_of
from xengine_gui.schedule.energy import plan_energy_fj


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """Totals of a plan: `total_ns` on the serial clock, `makespan_ns` on the overlapped one, where that was asked for.

    `energy_fj` is in femtojoules, `None` where the problem lacks a power. `overhead_ratio` is how much longer the
    serial total is than the best with unlimited memory (0.15: 15 % longer).
    """

    status: Status
    total_ns: int
    makespan_ns: int | None
    lower_bound_ns: int | None
    gap_ratio: float | None
    overhead_ratio: float | None
    peak_bytes: Mapping[str, int]
    limit_bytes: Mapping[str, int | None]
    busy_ns: Mapping[str, int]
    compute_count: int
    recompute_count: int
    recompute_ns: int
    transfer_count: int
    transfer_ns: int
    transfer_bytes: int
    free_count: int
    energy_fj: int | None = None


def summarise(plan: Plan, unlimited_total_ns: int | None = None, *, with_makespan: bool = False) -> PlanSummary:
    """The figures of a plan, beside the best total with unlimited memory where it is known."""
    computes = [event for event in plan.events if isinstance(event, Compute)]
    transfers = [event for event in plan.events if isinstance(event, Transfer)]
    busy_ns = {d.name: 0 for d in plan.problem.devices}
    for event in computes:
        busy_ns[event.device] += event.end_ns - event.start_ns
    transfer_ns = sum(event.end_ns - event.start_ns for event in transfers)
    total_ns = sum(busy_ns.values()) + transfer_ns
    size = {t.name: t.size_bytes for t in plan.problem.tensors}
    again = [event for event in computes if event.again]
    return PlanSummary(
        status=plan.status,
        total_ns=total_ns,
        makespan_ns=makespan_ns(plan) if with_makespan else None,
        lower_bound_ns=plan.lower_bound_ns,
        gap_ratio=replace(plan, total_ns=total_ns, clock=Clock.SERIAL).gap_ratio,
        overhead_ratio=total_ns / unlimited_total_ns - 1 if unlimited_total_ns else None,
        peak_bytes=dict(plan.peak_bytes),
        limit_bytes={d.name: d.memory_limit_bytes for d in plan.problem.devices},
        busy_ns=busy_ns,
        compute_count=len(computes) - len(again),
        recompute_count=len(again),
        recompute_ns=sum(event.end_ns - event.start_ns for event in again),
        transfer_count=len(transfers),
        transfer_ns=transfer_ns,
        transfer_bytes=sum(size[event.tensor] for event in transfers),
        free_count=len(plan.events) - len(computes) - len(transfers),
        energy_fj=plan_energy_fj(plan),
    )


def makespan_ns(plan: Plan) -> int:
    """The end of the plan on the overlapped clock."""
    events = overlapped_events(plan.problem, steps_of(plan.problem, plan.events))
    return max((event.end_ns for event in events), default=0)
