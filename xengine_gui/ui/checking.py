"""Plans of files, judged before they are shown as valid; a large one is painted while it is judged."""

from collections.abc import Callable
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.model.json_file import read_bytes, read_json
from xengine_gui.model.plan import Plan
from xengine_gui.model.plan_file import FORMAT, parse_plan
from xengine_gui.schedule.replay import replay
from xengine_gui.schedule.timeline import Timeline
from xengine_gui.schedule.verify import verify, verify_walked
from xengine_gui.schedule.walk import Walk
from xengine_gui.ui.garbage import lasting_objects
from xengine_gui.ui.glance import glance_of
from xengine_gui.ui.shown_plan import MANY_EVENTS, ShownPlan
from xengine_gui.ui.work import Setup, Work, open_work

_SNIFFED_BYTES = 256
Glance = Callable[[Timeline], None]


def open_checked(path: Path, setup: Setup, glance: Glance) -> tuple[Work, ShownPlan | None]:
    """What a file holds, with its plan, if it has one, judged. The picture of a large plan goes to `glance` before."""
    with lasting_objects():
        if not _is_plan(path) or setup.mapping or setup.sizes:
            work, plan = open_work(path, setup)
            return work, None if plan is None else checked(path, plan)
        data = read_json(path)
        picture = glance_of(data)
        if picture is not None:
            glance(picture)
        plan = parse_plan(data, str(path))
        return Work(path, plan.problem), checked(path, plan)


def _is_plan(path: Path) -> bool:
    """Whether a file looks like a plan's at its beginning."""
    return path.suffix.lower() == ".json" and f'"{FORMAT}"'.encode() in read_bytes(path, _SNIFFED_BYTES)


def checked(path: Path, plan: Plan) -> ShownPlan | None:
    """A plan of a file as it is shown; one that breaks a rule is refused."""
    if not plan.has_events:
        return None
    walk = Walk.of(plan)
    if walk is None:
        raise _refusal(path, verify(plan).broken)
    verdict = verify_walked(plan, walk)
    if not verdict.ok:
        raise _refusal(path, verdict.broken)
    shown = ShownPlan.of(plan, with_makespan=False, replayed=replay(plan, walk))
    return (shown if len(plan.events) > MANY_EVENTS else shown.with_figures()).ready()


def _refusal(path: Path, broken: tuple[str, ...]) -> InputError:
    return InputError(path.name, tr("the plan breaks a rule: {broken}", broken=broken[0]))
