"""Plans of files, judged before they are shown."""

from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Plan
from xengine_gui.schedule.replay import replay
from xengine_gui.schedule.verify import verified_walk
from xengine_gui.ui.shown_plan import MANY_EVENTS, ShownPlan


def checked(path: Path, plan: Plan) -> ShownPlan | None:
    """A plan of a file as it is shown; one that breaks a rule is refused."""
    if not plan.has_events:
        return None
    verdict, walk = verified_walk(plan)
    if not verdict.ok:
        raise InputError(path.name, f"the plan breaks a rule: {verdict.broken[0]}")
    shown = ShownPlan.of(plan, with_makespan=False, replayed=replay(plan, walk))
    shown = shown if len(plan.events) > MANY_EVENTS else shown.with_figures()
    return shown.ready()
