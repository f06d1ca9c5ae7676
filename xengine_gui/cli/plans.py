"""Plans that commands show or hand on: from a plan file or a session, judged before anything is made of them."""

from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Clock, Plan
from xengine_gui.model.plan_file import read_plan
from xengine_gui.schedule.finish import on_clock
from xengine_gui.schedule.verify import verify
from xengine_gui.session import SUFFIX, read_session, restored_plan


def verified_plan(path: Path, clock: str | None, *, done: str, to_do: str) -> Plan:
    """The plan of a file, or the best of a session, on a clock or its own; an `InputError` where it breaks a rule.

    What would be `done` with it (drawn), and what there is nothing `to_do` with (draw), are words of the sentences.
    """
    plan = _of_session(path) if path.suffix.lower() == SUFFIX else read_plan(path)
    if not plan.has_events:
        raise InputError(str(path), f"there is nothing to {to_do}: its status is {plan.status}")
    broken = verify(plan).broken
    if not broken and clock is not None:
        plan = on_clock(plan, Clock(clock))
        broken = verify(plan).broken
    if broken:
        raise InputError(str(path), f"is not {done}, since it breaks a rule: {broken[0]}")
    return plan


def _of_session(path: Path) -> Plan:
    session = read_session(path)
    problem = session.problem()
    plans = [plan for saved in session.plans if (plan := restored_plan(saved, problem)) is not None]
    if not plans:
        raise InputError(str(path), "holds no plan of its problem as it is now; plan it first (xengine plan)")
    return on_clock(min(plans, key=lambda plan: plan.total_ns or 0), session.view.clock)
