"""Reasons for what a plan does, made once however many ask for them at the same time."""

import threading

from xengine_gui.model.plan import Plan
from xengine_gui.schedule.explain import Explainer


class LazyExplainer:
    """The explainer of a plan, which is made by the thread that asks first; the others wait for it."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._lock = threading.Lock()
        self._made: Explainer | None = None

    @property
    def made(self) -> Explainer | None:
        """The explainer, `None` where nobody has asked for it yet, or it is being made."""
        return self._made

    def get(self) -> Explainer:
        """The explainer; making it takes as long as a replay of the plan."""
        with self._lock:
            if self._made is None:
                self._made = Explainer(self._plan)
            return self._made
