"""Plans that are remembered while limits are edited, so that a larger limit never shows a worse one."""

from collections import deque

from xengine_gui.model.plan import Plan

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

    def clear(self) -> None:
        """Forget all."""
        self._latest.clear()
        self._best.clear()


def _is_as_good(one: Plan, other: Plan) -> bool:
    """Whether wherever `other` fits `one` fits too and takes no longer; plans of two graphs are never compared."""
    a, b = one.problem, other.problem
    return (
        a.operators is b.operators
        and (a.links, a.transfers, a.keep) == (b.links, b.transfers, b.keep)
        and (one.total_ns or 0) <= (other.total_ns or 0)
        and all(peak <= other.peak_bytes.get(device, 0) for device, peak in one.peak_bytes.items())
    )
