"""A plan with all that the window shows of it, made once and off the window's thread."""

from dataclasses import dataclass

from xengine_gui.model.plan import Plan
from xengine_gui.schedule.replay import Replay, replay
from xengine_gui.schedule.summary import PlanSummary, summarise
from xengine_gui.schedule.timeline import Timeline, timeline


@dataclass(frozen=True)
class ShownPlan:
    """A verified plan, its timeline, its replay and its figures."""

    plan: Plan
    timeline: Timeline
    replay: Replay
    summary: PlanSummary

    @classmethod
    def of(cls, plan: Plan, unlimited_total_ns: int | None = None) -> "ShownPlan":
        """All that is shown of a plan that has events."""
        return cls(plan, timeline(plan), replay(plan), summarise(plan, unlimited_total_ns, with_makespan=True))
