"""Plans of files, judged before they are shown as valid; a large one is painted while it is judged."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.model.plan import Plan
from xengine_gui.schedule.replay import replay
from xengine_gui.schedule.timeline import Timeline, timeline
from xengine_gui.schedule.verify import verify, verify_walked
from xengine_gui.schedule.walk import Walk
from xengine_gui.ui.shown_plan import MANY_EVENTS, ShownPlan
from xengine_gui.ui.work import Setup, Work, open_work

Glance = Callable[[Timeline], None]


def open_checked(path: Path, setup: Setup, glance: Glance) -> tuple[Work, ShownPlan | None]:
    """What a file holds, with its plan, if it has one, judged."""
    with _lasting_objects():
        work, plan = open_work(path, setup)
        return work, None if plan is None else checked(path, plan, glance)


def checked(path: Path, plan: Plan, glance: Glance | None = None) -> ShownPlan | None:
    """A plan of a file as it is shown; one that breaks a rule is refused.

    The picture of a large plan goes to `glance` before the judge has spoken.
    """
    if not plan.has_events:
        return None
    walk = Walk.of(plan)
    if walk is None:
        raise _refusal(path, verify(plan).broken)
    replayed = replay(plan, walk)
    picture = timeline(plan, replayed)
    is_large = len(plan.events) > MANY_EVENTS
    if is_large and glance is not None:
        glance(picture)
    verdict = verify_walked(plan, walk)
    if not verdict.ok:
        raise _refusal(path, verdict.broken)
    shown = ShownPlan.of(plan, with_makespan=False, replayed=replayed, pictured=picture)
    return (shown if is_large else shown.with_figures()).ready()


def _refusal(path: Path, broken: tuple[str, ...]) -> InputError:
    return InputError(path.name, tr("the plan breaks a rule: {broken}", broken=broken[0]))


@contextmanager
def _lasting_objects() -> Iterator[None]:
    """For what makes a great many objects that stay: they are not looked through for garbage, now or soon after."""
    gc.disable()
    try:
        yield
    finally:
        # Those looked at rarely take them in at once, which else would be one long look in the middle of something.
        gc.freeze()
        gc.unfreeze()
        gc.enable()
