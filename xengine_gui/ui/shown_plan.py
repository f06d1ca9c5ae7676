"""A plan with all that the window shows of it, made once and off the window's thread."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from xengine_gui import planner
from xengine_gui.model.operator import Operator
from xengine_gui.model.plan import Compute, Plan
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.narrate import headline
from xengine_gui.schedule.replay import Replay, replay
from xengine_gui.schedule.summary import PlanSummary, summarise
from xengine_gui.schedule.timeline import Timeline, timeline
from xengine_gui.schedule.walk import Residency
from xengine_gui.ui.held import HeldIndex

if TYPE_CHECKING:
    from xengine_gui.ui.selection_traces import Traces


MANY_EVENTS = 20_000
"""Of a plan of more, what is not seen at once is worked out after it is shown."""
PAINTED_MS = 200
"""By then it is painted."""


@dataclass(frozen=True)
class ShownPlan:
    """A verified plan, its timeline, its replay and its figures."""

    plan: Plan
    timeline: Timeline
    replay: Replay
    summary: PlanSummary

    @classmethod
    def of(
        cls,
        plan: Plan,
        unlimited_total_ns: int | None = None,
        *,
        with_makespan: bool = True,
        replayed: Replay | None = None,
    ) -> "ShownPlan":
        """All that is shown of a plan that has events; `replayed` is its replay, if known."""
        summary = summarise(plan, unlimited_total_ns, with_makespan=with_makespan)
        replayed = replayed or replay(plan)
        return cls(plan, timeline(plan, replayed), replayed, summary)

    @cached_property
    def tensor_bytes(self) -> Mapping[str, int]:
        """The size of each tensor."""
        return {t.name: t.size_bytes for t in self.plan.problem.tensors}

    @cached_property
    def numbered(self) -> Mapping[str, tuple[int, Operator]]:
        """Each operator with its place in the base order."""
        return {o.name: (i, o) for i, o in enumerate(self.plan.problem.operators)}

    @cached_property
    def held(self) -> Mapping[str, HeldIndex]:
        """Per device what it holds at any moment."""
        stays: dict[str, list[Residency]] = {device: [] for device in self.replay.memory}
        for residency in self.replay.residencies:
            stays[residency.device].append(residency)
        memory = self.replay.memory
        return {d: HeldIndex(rows, self.tensor_bytes, memory[d].parameter_bytes) for d, rows in stays.items()}

    @cached_property
    def traces(self) -> "Traces":
        """What belongs to each tensor and operator."""
        from xengine_gui.ui.selection_traces import Traces  # noqa: PLC0415 - traces are of shown plans

        return Traces(self)

    def ready(self) -> "ShownPlan":
        """The same plan, with the tables of its first look made, which would hold up the window's thread."""
        for table in (self.held, self.numbered, self.most_recomputed, self.headline):
            len(table)
        if len(self.plan.events) <= MANY_EVENTS:
            self.traces.make()
        return self

    @cached_property
    def headline(self) -> str:
        """What is told before the first event is played."""
        return headline(self.plan)

    @cached_property
    def most_recomputed(self) -> tuple["Recomputed", ...]:
        """The tensors that are recomputed, those first that are most often and then those that take longest."""
        count: Counter[str] = Counter()
        time_ns: Counter[str] = Counter()
        for event in self.plan.events:
            if isinstance(event, Compute) and event.again:
                count[event.operator] += 1
                time_ns[event.operator] += event.end_ns - event.start_ns
        outputs = {o.name: o.outputs for o in self.plan.problem.operators if o.name in count}
        found = [
            Recomputed(max(outputs[name], key=lambda t: self.tensor_bytes[t]), name, times, time_ns[name])
            for name, times in count.items()
            if outputs[name]
        ]
        return tuple(sorted(found, key=lambda r: (-r.count, -r.time_ns, r.tensor)))

    def with_bound(self, lower_bound_ns: int) -> "ShownPlan":
        """The same plan, of which more is proved by now; timeline and replay are shared."""
        plan = replace(self.plan, lower_bound_ns=lower_bound_ns)
        summary = replace(self.summary, lower_bound_ns=lower_bound_ns, gap_ratio=plan.gap_ratio)
        return replace(self, plan=plan, summary=summary)

    def with_figures(self) -> "ShownPlan":
        """The same plan with the figures that take long: its makespan, and its overhead over unlimited memory."""
        unlimited_total_ns = UnlimitedTotal().of(self.plan.problem)
        return replace(self, summary=summarise(self.plan, unlimited_total_ns, with_makespan=True))

    def as_plan(self, plan: Plan, unlimited_total_ns: int | None) -> "ShownPlan":
        """Another plan of the same events, of which more is known by now; timeline and replay are shared."""
        total_ns = self.summary.total_ns
        summary = replace(
            self.summary,
            status=plan.status,
            lower_bound_ns=plan.lower_bound_ns,
            gap_ratio=plan.gap_ratio,
            overhead_ratio=total_ns / unlimited_total_ns - 1 if unlimited_total_ns else None,
        )
        return replace(self, plan=plan, summary=summary)


@dataclass(frozen=True, slots=True)
class Recomputed:
    """A tensor with the operator that makes it: how often that is recomputed, and the time of all these."""

    tensor: str
    operator: str
    count: int
    time_ns: int


class UnlimitedTotal:
    """The total with unlimited memory, remembered for the graph at hand, which stays while its limits are edited."""

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._total_ns: int | None = None

    def known(self, problem: Problem) -> int | None:
        """The total, where it has been computed."""
        old = self._problem
        same = old is not None and old.operators is problem.operators and old.links is problem.links
        return self._total_ns if same else None

    def of(self, problem: Problem) -> int | None:
        """The total, computed where it is not known."""
        if self.known(problem) is None:
            self._total_ns = planner.unlimited_total_ns(problem)
            self._problem = problem
        return self._total_ns
