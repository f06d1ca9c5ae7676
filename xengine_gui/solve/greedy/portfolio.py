"""Plans at once: scripts from several placements are healed or followed in several ways, and the best is kept."""

from collections.abc import Callable, Sequence

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Step
from xengine_gui.solve.greedy.actions import Action, actions_of, kept_devices, total_ns
from xengine_gui.solve.greedy.draft import Draft
from xengine_gui.solve.greedy.executor import follow
from xengine_gui.solve.greedy.improve import improve_draft
from xengine_gui.solve.greedy.mending import heal_everywhere
from xengine_gui.solve.greedy.release import Knobs
from xengine_gui.solve.greedy.scripts import placements, script_of
from xengine_gui.solve.greedy.tables import Tables

_KNOBS = (
    Knobs(0.5),
    Knobs(0.0),
    Knobs(1.0),
    Knobs(0.25),
    Knobs(2.0),
    Knobs(0.5, frugal=True),
    Knobs(1.0, 0.5, frugal=True),
)


class _Best:
    """The cheapest valid steps so far."""

    def __init__(self, tables: Tables, should_stop: Callable[[], bool]) -> None:
        self.tables, self.should_stop = tables, should_stop
        self.draft: Draft | None = None

    def heal(self, steps: Sequence[Step]) -> bool:
        """Try to heal steps where they break limits."""
        draft = Draft(self.tables, steps)
        return heal_everywhere(draft, self.should_stop) and self._take(draft)

    def follow(self, script: list[Action], kept: dict[int, int], knobs: Knobs) -> bool:
        """Try to follow a script within the limits."""
        steps = follow(self.tables, script, kept, knobs, self.should_stop)
        return steps is not None and self._take(Draft(self.tables, steps))

    def _take(self, draft: Draft) -> bool:
        improve_draft(draft, self.should_stop, effort=0)
        if self.draft is None or draft.total_ns < self.draft.total_ns:
            self.draft = draft
        return True


def greedy_steps(indexed: IndexedProblem, should_stop: Callable[[], bool], *, effort: int = 1) -> list[Step] | None:
    """Steps that stay within all limits, or `None` where no try finds any.

    `effort` 0 stops at the first plan, 1 improves the best of several, 2 tries everything there is.
    """
    tables = Tables(indexed)
    best = _Best(tables, should_stop)
    scripts = [s for placement in placements(tables) if (s := script_of(tables, placement)) is not None]
    for script in scripts:
        if best.heal(script) and not effort:
            break
    for script in scripts:
        for knobs in _KNOBS:
            if should_stop() or (best.draft is not None and effort < 2):
                break
            best.follow(script, kept_devices(indexed, script), knobs)
    return _improved(best.draft, should_stop, effort)


def repair_steps(
    indexed: IndexedProblem, steps: Sequence[Step], should_stop: Callable[[], bool], *, effort: int = 1
) -> list[Step] | None:
    """A valid plan near steps that break limits, or `None`; first computations must be in base order."""
    tables = Tables(indexed)
    best = _Best(tables, should_stop)
    best.heal(steps)
    for knobs in _KNOBS:
        if should_stop() or (best.draft is not None and effort < 2):
            break
        best.follow(actions_of(steps), kept_devices(indexed, steps), knobs)
    return _improved(best.draft, should_stop, effort)


def improve_steps(
    indexed: IndexedProblem, steps: Sequence[Step], should_stop: Callable[[], bool], *, effort: int = 1
) -> list[Step]:
    """Valid steps made cheaper where that is easily found; never worse, and as valid as they were."""
    draft = Draft(Tables(indexed), steps)
    if draft.worst(everywhere=True) is not None:
        return list(steps)
    improved = _improved(draft, should_stop, effort)
    return improved if improved is not None and draft.total_ns <= total_ns(indexed, steps) else list(steps)


def _improved(draft: Draft | None, should_stop: Callable[[], bool], effort: int) -> list[Step] | None:
    if draft is None:
        return None
    improve_draft(draft, should_stop, effort=effort)
    return draft.steps()
