"""Plans at once: scripts from several placements are healed or followed in several ways, and the best is kept."""

from collections.abc import Callable, Sequence
from math import inf

from xengine_gui.model.indexed import IndexedProblem
from xengine_gui.model.plan import Step
from xengine_gui.solve.frugal import frugal_steps
from xengine_gui.solve.greedy.actions import Action, actions_of, kept_devices, total_ns
from xengine_gui.solve.greedy.draft import Draft
from xengine_gui.solve.greedy.executor import follow
from xengine_gui.solve.greedy.improve import improve_draft
from xengine_gui.solve.greedy.mending import heal_everywhere
from xengine_gui.solve.greedy.release import Knobs
from xengine_gui.solve.greedy.scripts import all_placements, placements, script_of
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


_HEALING_LOOKS = 400_000
"""What one placement's script may take to heal: a second or some."""
_BIASES = (0.25, 0.0, 1.0, 2.0, -0.25)
"""How much long gaps are favoured when healing; the best differs from network to network, so several are tried."""
_MANY_OPERATORS = 3000
"""Above this none are favoured."""
_MOST_PLACEMENTS = 256
"""Where all placements are no more than this they are all tried, with effort 2 or when nothing else is found."""
_FRUGAL_EACH = (100, 100, 300)
"""Per effort: tries per operator of a plan that is sparing with memory, where nothing else finds one."""
_IMPROVING_LOOKS = (0, 100_000, 1_000_000)
_IMPROVED_DRAFTS = (1, 3, 4)
"""Per effort: what improving one plan may take, and how many plans are improved."""


class _Pool:
    """Valid drafts so far, the cheapest first."""

    def __init__(self, tables: Tables, should_stop: Callable[[], bool]) -> None:
        self.tables, self.should_stop = tables, should_stop
        self.drafts: list[Draft] = []

    def heal(self, steps: Sequence[Step], bias: float = 0.0) -> bool:
        """Try to heal steps where they break limits."""
        draft = Draft(self.tables, steps)
        draft.bias = bias
        healed = heal_everywhere(draft, self.should_stop, _HEALING_LOOKS)
        draft.bias = 0.0
        draft.rankings.clear()
        return healed and self._take(draft)

    def follow(self, script: list[Action], kept: dict[int, int], knobs: Knobs) -> bool:
        """Try to follow a script within the limits."""
        steps = follow(self.tables, script, kept, knobs, self.should_stop)
        return steps is not None and self._take(Draft(self.tables, steps))

    def heal_all_placements(self) -> None:
        """Try to heal the scripts of all placements, where there are not too many."""
        for placement in all_placements(self.tables, _MOST_PLACEMENTS):
            if self.should_stop():
                return
            script = script_of(self.tables, placement)
            if script is not None:
                self.heal(script, _BIASES[0])

    def be_frugal(self, effort: int) -> None:
        """Try for a plan that takes little memory, whatever it costs."""
        most_each = _FRUGAL_EACH[min(effort, len(_FRUGAL_EACH) - 1)]
        steps = frugal_steps(self.tables.indexed, self.should_stop, most_each=most_each)
        if steps is not None:
            self.heal(steps)

    def _take(self, draft: Draft) -> bool:
        improve_draft(draft, self.should_stop, mends=0)
        if all(draft.total_ns != other.total_ns for other in self.drafts):
            self.drafts.append(draft)
            self.drafts.sort(key=lambda d: d.total_ns)
        return True

    def best(self, effort: int) -> list[Step] | None:
        """The cheapest steps after improving the cheapest drafts."""
        effort = min(effort, len(_IMPROVING_LOOKS) - 1)
        for draft in self.drafts[: _IMPROVED_DRAFTS[effort]]:
            if effort and not self.should_stop():
                improve_draft(draft, self.should_stop, mends=12, most_looks=_IMPROVING_LOOKS[effort])
        return min(self.drafts, key=lambda d: d.total_ns).steps() if self.drafts else None


def _biases(indexed: IndexedProblem, effort: int) -> tuple[float, ...]:
    if indexed.operator_count > _MANY_OPERATORS:
        return (0.0,)
    return _BIASES[: (1, 2, len(_BIASES))[min(effort, 2)]]


def greedy_steps(indexed: IndexedProblem, should_stop: Callable[[], bool], *, effort: int = 1) -> list[Step] | None:
    """Steps that stay within all limits, or `None` where no try finds any.

    `effort` 0 stops at the first plan, 1 improves the best of several, 2 tries everything there is.
    """
    tables = Tables(indexed)
    pool = _Pool(tables, should_stop)
    scripts = []
    for placement in placements(tables, should_stop):
        script = None if should_stop() else script_of(tables, placement)
        if script is not None:
            scripts.append(script)
            healed = [pool.heal(script, bias) for bias in _biases(indexed, effort)]
            if any(healed) and not effort:
                break
    for script in scripts:
        for knobs in _KNOBS:
            if should_stop() or (pool.drafts and effort < 2):
                break
            pool.follow(script, kept_devices(indexed, script), knobs)
    if effort > 1 or not pool.drafts:
        pool.heal_all_placements()
    if not pool.drafts:
        pool.be_frugal(effort)
    return pool.best(effort)


def repair_steps(
    indexed: IndexedProblem, steps: Sequence[Step], should_stop: Callable[[], bool], *, effort: int = 1
) -> list[Step] | None:
    """A valid plan near steps that break limits, or `None`; first computations must be in base order."""
    pool = _Pool(Tables(indexed), should_stop)
    for bias in _biases(indexed, effort):
        pool.heal(steps, bias)
    for knobs in _KNOBS:
        if should_stop() or (pool.drafts and effort < 2):
            break
        pool.follow(actions_of(steps), kept_devices(indexed, steps), knobs)
    return pool.best(effort)


def improve_steps(
    indexed: IndexedProblem, steps: Sequence[Step], should_stop: Callable[[], bool], *, effort: int = 1
) -> list[Step]:
    """Valid steps made cheaper where that is easily found; never worse, and as valid as they were."""
    draft = Draft(Tables(indexed), steps)
    if draft.worst(everywhere=True) is not None:
        return list(steps)
    looks = _IMPROVING_LOOKS[min(effort, len(_IMPROVING_LOOKS) - 1)]
    improve_draft(draft, should_stop, mends=12 if effort else 0, most_looks=looks or inf)
    return draft.steps() if draft.total_ns <= total_ns(indexed, steps) else list(steps)
