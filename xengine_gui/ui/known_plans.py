"""Plans that are remembered while limits are edited, so that a larger limit never shows a worse one."""

from collections import deque

from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.solve.known import is_within

_LATEST = 24
_BEST = 64


class KnownPlans:
    """The latest plans, whose bounds may hold, and of all the best: none is both slower and larger than another."""

    def __init__(self) -> None:
        self._latest: deque[Plan] = deque(maxlen=_LATEST)
        self._best: deque[Plan] = deque(maxlen=_BEST)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """All of them, each once."""
        return (*self._best, *(p for p in self._latest if all(p is not other for other in self._best)))

    def add(self, plan: Plan) -> None:
        """Remember a plan that has events."""
        self._latest.append(plan)
        if any(_is_as_good(other, plan) for other in self._best):
            return
        better = [other for other in self._best if not _is_as_good(plan, other)]
        self._best = deque([*better, plan], maxlen=_BEST)

    def has_better(self, problem: Problem, total_ns: int) -> bool:
        """Whether one takes less time than that within the limits of a problem."""
        limits = {device.name: device.memory_limit_bytes for device in problem.devices}
        return any(
            (p.total_ns or 0) < total_ns and _is_alike(p.problem, problem) and is_within(p, limits) for p in self._best
        )

    def clear(self) -> None:
        """Forget all."""
        self._latest.clear()
        self._best.clear()


def _is_as_good(one: Plan, other: Plan) -> bool:
    """Whether wherever `other` fits `one` fits too and takes no longer; plans of two graphs are never compared."""
    return (
        _is_alike(one.problem, other.problem)
        and (one.total_ns or 0) <= (other.total_ns or 0)
        and all(peak <= other.peak_bytes.get(device, 0) for device, peak in one.peak_bytes.items())
    )


def _is_alike(one: Problem, other: Problem) -> bool:
    """Whether nothing but limits differs, so that totals can be compared."""
    return one.operators is other.operators and (one.links, one.transfers, one.keep) == (
        other.links, other.transfers, other.keep,
    )  # fmt: skip
