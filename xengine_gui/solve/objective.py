"""What a plan is to have little of, time or energy, by when it is to end, and which strategies know of that."""

from enum import StrEnum

from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.energy import missing_power, plan_energy_fj
from xengine_gui.units import format_duration


class Objective(StrEnum):
    """What is minimised: the serial total, or the energy above idle."""

    TIME = "time"
    ENERGY = "energy"


def plan_cost(plan: Plan, objective: Objective) -> int:
    """What the objective counts of a plan, in nanoseconds or femtojoules."""
    energy_fj = plan_energy_fj(plan) if objective is Objective.ENERGY else None
    return (plan.total_ns or 0) if energy_fj is None else energy_fj


def objective_obstacle(strategy: object, problem: Problem, objective: Objective, deadline_ns: int | None) -> str:
    """Why a strategy cannot plan for this objective and deadline, in one sentence; empty where it can.

    Strategies minimise time and know no deadline unless their attributes `objectives` and `keeps_deadlines` say more.
    """
    objectives: tuple[Objective, ...] = getattr(strategy, "objectives", (Objective.TIME,))
    if objective not in objectives:
        return f"it minimises {' or '.join(objectives)}, not {objective}, which the strategy poet does"
    if deadline_ns is not None and not getattr(strategy, "keeps_deadlines", False):
        return "it knows no deadline; the strategy poet does"
    if objective is Objective.ENERGY and (missing := missing_power(problem)):
        return (
            f"energies are not known, since {missing}; presets with a power are cortex-m0, cortex-m4, raspberry-pi-4 "
            "and jetson-tx2-core, with the storages sd-card-mcu, sd-card-rpi and emmc-tx2"
        )
    return ""


def misses_deadline(plan: Plan, deadline_ns: int | None) -> str:
    """In one sentence by how much a plan ends too late, empty where it does not."""
    if deadline_ns is None or plan.total_ns is None or plan.total_ns <= deadline_ns:
        return ""
    return f"its total of {format_duration(plan.total_ns)} passes the deadline of {format_duration(deadline_ns)}"
