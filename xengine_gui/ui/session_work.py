"""Between a session and what the window has open."""

from dataclasses import dataclass, replace
from pathlib import Path

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.model.constraints import constraint_to_json
from xengine_gui.model.plan import Plan
from xengine_gui.session import Session, View, restored_plan, saved_plan, understood_constraints, with_limits
from xengine_gui.solve.base import SolveOptions
from xengine_gui.ui.checking import checked
from xengine_gui.ui.document import Document
from xengine_gui.ui.shown_plan import ShownPlan, UnlimitedTotal
from xengine_gui.ui.work import Setup, Work, open_work

_PLAN_IS_OLD = tr("The plan of the session is for the problem as it was then, so it is not shown.")


@dataclass(frozen=True)
class Draft:
    """The work at hand: a session without its plan, which is turned into steps only when it is written."""

    session: Session
    plan: Plan | None

    def finished(self) -> Session:
        """The session with its plan; takes a moment where the plan is large."""
        if self.plan is None:
            return self.session
        return replace(self.session, plans=(saved_plan(self.plan),))

    def is_like(self, other: "Draft | None") -> bool:
        """Whether nothing but the view differs."""
        return other is not None and replace(self, session=replace(self.session, view=other.session.view)).is_same(
            other
        )

    def is_same(self, other: "Draft | None") -> bool:
        """Whether nothing differs; events of a large plan are not gone through one by one, which takes a while."""
        return (
            other is not None
            and (self.plan is None) == (other.plan is None)
            and (self.plan is None or other.plan is None or self.plan.events is other.plan.events)
            and self.session == other.session
        )


def draft_of(
    document: Document, strategy: str, options: SolveOptions, view: View, base: Session | None
) -> Draft | None:
    """What is open now, `None` where nothing is; what the window does not know of it is taken from `base`."""
    work = document.work
    if work is None:
        return None
    setup = work.setup
    common = base or Session(work.path)
    session = Session(
        file=work.path,
        strategy=strategy,
        gap_ratio=options.gap_ratio,
        time_limit_s=options.time_limit_s,
        objective=options.objective,
        deadline_ns=options.deadline_ns,
        links=work.links_given,
        view=view,
        constraints=(*map(constraint_to_json, work.constraints), *understood_constraints(common.constraints)[1]),
        costs=work.costs,
        report=work.report,
        unknown=common.unknown,
    )
    given = setup or work.read_with
    if given is not None:
        session = replace(session, sizes=dict(given.sizes), mapping=dict(given.mapping))
    if setup is None:
        limits = {d.name: d.memory_limit_bytes for d in work.problem.devices}
        session = replace(session, limits=limits)
    else:
        session = replace(
            session,
            devices=setup.devices,
            training=setup.training,
            optimizer=setup.optimizer,
            batch=setup.batch,
            bindings=dict(setup.bindings),
            implementations=setup.implementations,
        )
    return Draft(session, None if document.shown is None else document.shown.plan)


def opened(session: Session) -> tuple[Work, ShownPlan | None]:
    """What a session works on, with its best plan if that still is one; an `InputError` where it cannot be opened."""
    work, plan = _open(session)
    own_problem = work.problem
    if work.setup is None:
        work = replace(work, problem=with_limits(work.problem, session.limits)).with_links(session.links)
    work = _bound(work, session)
    restored = [plan for saved in session.plans if (plan := restored_plan(saved, work.problem)) is not None]
    best = min(restored, key=lambda p: p.total_ns or 0, default=None)
    if best is not None:
        return work, ShownPlan.of(best, UnlimitedTotal().of(best.problem))
    if session.plans and not work.note:
        work = replace(work, note=_PLAN_IS_OLD)
    if plan is not None and work.problem is own_problem:
        return work, checked(session.file, plan)
    return work, None


def _open(session: Session) -> tuple[Work, Plan | None]:
    """The session's file with its setup and its measured costs; where those have no place any more, without them."""
    setup = Setup(
        devices=session.devices or planner.DEFAULT_DEVICES,
        training=session.training,
        optimizer=session.optimizer,
        batch=session.batch,
        bindings=session.bindings,
        sizes=session.sizes,
        mapping=session.mapping,
        links=session.links,
        implementations=session.implementations,
    )
    work, plan = open_work(session.file, setup)
    if not session.costs:
        return work, plan
    try:
        return work.with_costs(session.costs), plan
    except InputError as error:
        return replace(work, note=f"The measured costs of the session are left out: {error}"), plan


def _bound(work: Work, session: Session) -> Work:
    """The work under the session's constraints, with a note on those that are not in force."""
    understood, others = understood_constraints(session.constraints)
    if understood:
        work = work.with_constraints(understood)
    notes = [f"{c.title}: {why}" for c, why in work.idle.items()]
    notes += [tr("one is of a kind that this version does not know")] * bool(others)
    if notes and not work.note:
        work = replace(work, note=f"Not all constraints of the session are in force: {'; '.join(notes)}.")
    return work


def proposed_file(session: Session, suffix: str) -> Path:
    """Where a session is saved when nobody says otherwise: beside its network, or here for a sample."""
    folder = session.file.parent
    samples = {path.parent for path in planner.sample_networks()}
    return (Path.cwd() if folder in samples else folder) / f"{session.file.stem}{suffix}"
