"""What a session holds: a file, how it is planned, how it is looked at, and the plans that were found."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from xengine_gui import planner
from xengine_gui.cost import DeviceChoice, with_measured
from xengine_gui.errors import InputError
from xengine_gui.model.constraints import Constraint, constrained, constraint_from_json
from xengine_gui.model.device import Link
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.json_file import Json, format_json, show
from xengine_gui.model.plan import Clock, Move, Plan, Run, Status, Step
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import problem_to_json
from xengine_gui.schedule.clock import steps_of
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.verify import verify
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.objective import Objective


@dataclass(frozen=True, slots=True)
class View:
    """How a session is looked at: the stretch of time in view (`None`: everything), the clock, the theme ("": any).

    `centre` is what the middle of the window shows, `below` the tab that is open below, `folded` the sections that are
    folded on the left: words of the window, of which those that are not known to it are as usual.
    """

    start_ns: int | None = None
    end_ns: int | None = None
    clock: Clock = Clock.SERIAL
    theme: str = ""
    centre: str = ""
    below: str = ""
    folded: tuple[str, ...] = ()


@dataclass(frozen=True)
class SavedPlan:
    """A plan without its problem: steps, what is proved of it, and a digest of the problem that it was made for."""

    strategy: str
    status: Status
    steps: tuple[Step, ...]
    problem_digest: str
    lower_bound_ns: int | None = None
    runtime_s: float = 0.0
    explanation: str = ""


@dataclass(frozen=True)
class Session:
    """All of a session. A network has `devices` and the rest of its setup, a problem or plan file only `limits`.

    `links` are those that differ from what the devices' presets, or the file, give; with `implementations` each
    convolution has a row per algorithm. `gap_ratio`, `time_limit_s` (`None`: no limit), `objective` and `deadline_ns`
    are the options of the search. `constraints` are rows as they stand in the file. `costs` are tables of measured
    times that lie over the problem, `report` is what was assumed when the network was read. `unknown` has the keys that
    were read and not understood.
    """

    file: Path
    devices: tuple[DeviceChoice, ...] = ()
    training: bool = True
    optimizer: str = "sgd"
    batch: int | None = None
    bindings: Mapping[str, int] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    mapping: Mapping[str, str] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    implementations: bool = False
    limits: Mapping[str, int | None] = field(default_factory=dict)
    constraints: tuple[Json, ...] = ()
    costs: tuple[Path, ...] = ()
    report: tuple[str, ...] = ()
    strategy: str = "optimal"
    gap_ratio: float = SolveOptions().gap_ratio
    time_limit_s: float | None = SolveOptions().time_limit_s
    objective: Objective = Objective.TIME
    deadline_ns: int | None = None
    view: View = View()
    plans: tuple[SavedPlan, ...] = ()
    unknown: Mapping[str, Json] = field(default_factory=dict)

    def problem(self) -> Problem:
        """The problem that the session plans; reads its file, which takes up to some seconds.

        An `InputError` tells of constraints that cannot hold or are not understood: a plan must not pass for theirs.
        """
        opened = planner.open_file(
            self.file, batch=self.batch, bindings=self.bindings, mapping=self.mapping, sizes=self.sizes
        )
        if isinstance(opened, NetworkGraph):
            problem = planner.make_problem(
                opened,
                self.devices or planner.DEFAULT_DEVICES,
                training=self.training,
                optimizer=self.optimizer,
                links=self.links,
                implementations=self.implementations,
            )
        else:
            problem = (opened.problem if isinstance(opened, Plan) else opened).with_links(self.links)
        problem = with_measured(problem, self.costs)
        understood, others = understood_constraints(self.constraints)
        if others:
            raise InputError(self.file.name, [f"the constraint {show(row)} is not understood" for row in others])
        return constrained(with_limits(problem, self.limits), understood)


def understood_constraints(rows: Sequence[Json]) -> tuple[tuple[Constraint, ...], tuple[Json, ...]]:
    """The constraints of a session's rows, and the rows that this version does not understand."""
    read = [(constraint_from_json(row), row) for row in rows]
    return tuple(c for c, _ in read if c is not None), tuple(row for c, row in read if c is None)


def with_limits(problem: Problem, limits: Mapping[str, int | None]) -> Problem:
    """The problem with other limits on the devices that are named."""
    for device, limit in limits.items():
        if problem.device(device).memory_limit_bytes != limit:
            problem = problem.with_limit(device, limit)
    return problem


def digest_of(problem: Problem) -> str:
    """What tells one problem from another, whatever its name and notes."""
    plain = problem_to_json(replace(problem, name="", notes=""))
    return hashlib.sha256(format_json(plain).encode()).hexdigest()[:32]


def saved_plan(plan: Plan) -> SavedPlan:
    """A plan that has events, as a session holds it."""
    return SavedPlan(
        strategy=plan.strategy,
        status=plan.status,
        steps=tuple(steps_of(plan.problem, plan.events)),
        problem_digest=digest_of(plan.problem),
        lower_bound_ns=plan.lower_bound_ns,
        runtime_s=plan.runtime_s,
        explanation=plan.explanation,
    )


def restored_plan(saved: SavedPlan, problem: Problem) -> Plan | None:
    """The plan of a session on the serial clock, verified; `None` where it is no plan of the problem any more.

    What is proved of it holds only for the very problem that it was made for.
    """
    if not all(_is_possible(step, problem) for step in saved.steps):
        return None
    plan = finished_plan(problem, saved.strategy, saved.steps, runtime_s=saved.runtime_s, explanation=saved.explanation)
    if not verify(plan).ok:
        return None
    bound = saved.lower_bound_ns
    proved = saved.problem_digest == digest_of(problem) and (bound is None or bound <= (plan.total_ns or 0))
    return replace(plan, status=saved.status, lower_bound_ns=bound) if proved else plan


def _is_possible(step: Step, problem: Problem) -> bool:
    """Whether a step names things that there are; whether it may happen there is for the judge to say."""
    indexed = problem.indexed
    devices, tensors = indexed.device_count, indexed.tensor_count
    if isinstance(step, Run):
        known = step.device < devices and step.operator < indexed.operator_count
        return known and step.implementation < len(indexed.implementations[step.operator][step.device])
    if isinstance(step, Move):
        known = max(step.source, step.destination) < devices and step.tensor < tensors
        return known and indexed.copy_ns(step.source, step.destination, step.tensor) is not None
    return step.device < devices and step.tensor < tensors
