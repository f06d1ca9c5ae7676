"""`xengine plan`: plan, tell what the plan costs, write it down."""

import argparse
from collections import Counter
from dataclasses import replace

from xengine_gui import planner
from xengine_gui.cli.inputs import asked_problem, asked_session, check_picture, check_writable
from xengine_gui.cli.output import pairs, say, shown, table, tell
from xengine_gui.cli.progress import plan_with_progress
from xengine_gui.cli.status import DONE, INFEASIBLE, NO_PLAN_IN_TIME
from xengine_gui.errors import PlannerError
from xengine_gui.model.plan import Clock, Compute, Plan, Status
from xengine_gui.model.plan_file import write_plan
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import on_clock
from xengine_gui.schedule.summary import PlanSummary, summarise
from xengine_gui.schedule.verify import verify
from xengine_gui.session import Session, restored_plan
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.formulations.write_model import ModelForm, write_model
from xengine_gui.solve.objective import Objective
from xengine_gui.solve.strategies import strategy as strategy_called
from xengine_gui.units import (
    format_count,
    format_duration,
    format_duration_exact,
    format_energy,
    format_gap,
    format_names,
    format_percent,
    format_size,
)

_CONTENT_RATIO = 0.01


def run(arguments: argparse.Namespace) -> int:
    """Plan what is asked for."""
    check_writable(arguments.output)
    check_picture(arguments.picture)
    check_writable(arguments.write_model)
    if arguments.strategy is not None:
        strategy_called(arguments.strategy)  # told before a network is read
    session = asked_session(arguments)
    problem = asked_problem(arguments)
    usual = "optimal" if session is None else session.strategy
    strategy = strategy_called(usual if arguments.strategy is None else arguments.strategy).key
    if arguments.write_model is not None:
        _write_model(arguments, problem, strategy)
    plan = plan_with_progress(problem, strategy, _options(arguments, session, problem), told=arguments.progress or None)
    if not plan.has_events:
        return _no_plan(plan, arguments)
    plan = _on_clock(plan, Clock(arguments.clock))
    _print(plan)
    if arguments.output is not None:
        write_plan(plan, arguments.output)
        say(f"\nThe plan is in {shown(str(arguments.output))}, on the {plan.clock} clock.")
    if arguments.picture is not None:
        from xengine_gui.cli.render import draw  # noqa: PLC0415 - Qt is loaded only for a picture

        draw(plan, arguments.picture)
        say(f"{'' if arguments.output else chr(10)}The picture is in {shown(str(arguments.picture))}.")
    return DONE


def _write_model(arguments: argparse.Namespace, problem: Problem, key: str) -> None:
    write_model(strategy_called(key), problem, arguments.write_model, ModelForm(arguments.model_form))
    say(f"The {arguments.model_form} model of {key} is in {shown(str(arguments.write_model))}.\n")


def _options(arguments: argparse.Namespace, session: Session | None, problem: Problem) -> SolveOptions:
    """How long to plan: who asks for neither a gap nor a time is soon content with a good plan; a session has asked."""
    usual = SolveOptions(gap_ratio=planner.DEMO.gap_ratio) if arguments.demo else SolveOptions()
    if session is not None:
        plans = (restored_plan(saved, problem) for saved in session.plans)
        incumbent = min(filter(None, plans), key=lambda plan: plan.total_ns or 0, default=None)
        usual = SolveOptions(
            session.gap_ratio,
            session.time_limit_s,
            incumbent,
            objective=session.objective,
            deadline_ns=session.deadline_ns,
        )
    asked = session is not None or arguments.gap is not None or "time" in arguments
    return replace(
        usual,
        gap_ratio=usual.gap_ratio if arguments.gap is None else arguments.gap,
        time_limit_s=getattr(arguments, "time", usual.time_limit_s),
        content_ratio=None if asked else _CONTENT_RATIO,
        objective=usual.objective if arguments.objective is None else Objective(arguments.objective),
        deadline_ns=usual.deadline_ns if arguments.deadline is None else arguments.deadline,
    )


def _on_clock(plan: Plan, clock: Clock) -> Plan:
    """The plan on the clock that is asked for, judged once more."""
    moved = on_clock(plan, clock)
    broken = () if moved is plan else verify(moved).broken
    if broken:
        raise PlannerError(f"the plan breaks a rule on the {clock} clock, so it is not written: {broken[0]}")
    return moved


def _no_plan(plan: Plan, arguments: argparse.Namespace) -> int:
    why = shown(plan.explanation).rstrip(".")
    if plan.status is Status.INFEASIBLE:
        tell(f"Infeasible: {why or 'no plan keeps these limits'}.{_nothing_written(arguments)}")
        return INFEASIBLE
    # Some explanations begin with these words themselves.
    told = why if why.startswith("No plan ") else f"No plan: {why or 'the time was too short to find one'}"
    tell(f"{told}.{_nothing_written(arguments)}")
    return NO_PLAN_IN_TIME


def _nothing_written(arguments: argparse.Namespace) -> str:
    outputs = [shown(str(path)) for path in (arguments.output, arguments.picture) if path is not None]
    return f" Nothing is written to {' and '.join(outputs)}." if outputs else ""


def _print(plan: Plan) -> None:
    figures = summarise(plan, planner.unlimited_total_ns(plan.problem), with_makespan=True)
    operators, devices = len(plan.problem.operators), len(plan.problem.devices)
    counted = f"{format_count(operators, 'operator')}, {format_count(devices, 'device')}"
    say(f"{shown(plan.problem.name) or 'problem'}: {counted}, planned by {plan.strategy} in {plan.runtime_s:.1f} s\n")
    pairs(_figures(figures))
    if plan.explanation:
        say(f"\n{shown(plan.explanation)}")
    say()
    rows = [_device_row(figures, device.name) for device in plan.problem.devices]
    table(["device", "peak", "limit", "of limit", "busy"], rows)
    times = Counter(event.operator for event in plan.events if isinstance(event, Compute) and event.again)
    if times:
        names = (name if count == 1 else f"{name} ({count} times)" for name, count in times.items())
        say(f"\nRecomputed: {shown(format_names(names))}")


def _figures(figures: PlanSummary) -> list[tuple[str, str, str]]:
    total = format_duration(figures.total_ns)
    rows = [("total", total, f"{format_duration_exact(figures.total_ns)}, one thing after the other (serial clock)")]
    if figures.makespan_ns is not None:
        exact = format_duration_exact(figures.makespan_ns)
        rows.append(
            ("makespan", format_duration(figures.makespan_ns), f"{exact}, devices and links side by side (overlapped)")
        )
    if figures.overhead_ratio is not None:
        rows.append(("overhead", format_percent(figures.overhead_ratio), "over unlimited memory"))
    if figures.lower_bound_ns is not None and figures.gap_ratio is not None:
        exact = format_duration_exact(figures.lower_bound_ns)
        rows.append(("lower bound", format_duration(figures.lower_bound_ns), f"{exact}, no plan has a smaller total"))
        rows.append(("gap", format_gap(figures.gap_ratio, 3), _proved(figures)))
    else:
        rows.append(("lower bound", "none", "how good the plan is was not proved"))
    rows.append(("recomputed", f"{figures.recompute_count:,}", format_duration(figures.recompute_ns)))
    moved = f"{format_duration(figures.transfer_ns)}, {format_size(figures.transfer_bytes)}"
    rows.append(("transferred", f"{figures.transfer_count:,}", moved))
    if figures.energy_fj is not None:
        rows.append(("energy", format_energy(figures.energy_fj), "of computing and transferring, above idle"))
    return rows


def _proved(figures: PlanSummary) -> str:
    if figures.status is not Status.OPTIMAL:
        return "a better plan may exist; more time may find it"
    return "within what was asked for" if figures.gap_ratio else "proved optimal"


def _device_row(figures: PlanSummary, device: str) -> list[str]:
    peak, limit = figures.peak_bytes.get(device, 0), figures.limit_bytes[device]
    share = format_percent(peak / limit) if limit else "-"
    return [
        device,
        format_size(peak),
        "unlimited" if limit is None else format_size(limit),
        share,
        format_duration(figures.busy_ns[device]),
    ]
