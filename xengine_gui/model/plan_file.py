"""Plan files: events and totals with the whole problem, as JSON (`"format": "xengine-plan"`)."""

from collections.abc import Mapping
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.model.json_file import Fields, Json, at, format_json, kind_of, read_json, show
from xengine_gui.model.plan import Clock, Compute, Event, Free, Plan, Status, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import FORMAT as PROBLEM_FORMAT
from xengine_gui.model.problem_file import problem_to_json, take_problem
from xengine_gui.model.quick_rows import quick_events
from xengine_gui.model.whole_file import write_text

FORMAT = "xengine-plan"
_KINDS = "compute, recompute, transfer or free"


def read_plan(path: Path, problem: Problem | None = None) -> Plan:
    """The plan in a file, for `problem` where one is given instead of the problem that the file carries.

    An `InputError` lists every mistake of the file. Whether the plan keeps the rules is for `verify` to say.
    """
    return parse_plan(read_json(path), str(path), problem)


def parse_plan(data: Json, source: str, problem: Problem | None = None) -> Plan:
    """The plan in a JSON value; `source` names it in mistakes."""
    fields = Fields()
    if isinstance(data, dict) and data.get("format") == PROBLEM_FORMAT:
        raise InputError(source, "this is a problem, not a plan; plan it first")
    form = fields.form(data, "", FORMAT)
    if form is None:
        raise InputError(source, fields.mistakes)
    if problem is None:
        if "problem" not in form:
            fields.wrong("problem", "is missing (a plan without its problem needs the problem file beside it)")
        else:
            problem = take_problem(fields, form["problem"], "problem")
    events = quick_events(form.get("events")) or tuple(
        event
        for place, row in fields.objects(form, "events", "", needed=True)
        if (event := _event(fields, row, place)) is not None
    )
    plan_parts = {
        "strategy": fields.text(form, "strategy", ""),
        "status": fields.choice(form, "status", "", Status, Status.UNKNOWN),
        "clock": fields.choice(form, "clock", "", Clock, Clock.SERIAL),
        "total_ns": fields.whole_or_none(form, "total_ns", ""),
        "lower_bound_ns": fields.whole_or_none(form, "lower_bound_ns", ""),
        "peak_bytes": _peaks(fields, form),
        "runtime_s": fields.number(form, "runtime_s", ""),
        "explanation": fields.text(form, "explanation", ""),
    }
    if fields.mistakes or problem is None:
        raise InputError(source, fields.mistakes)
    return Plan(problem=problem, events=events, **plan_parts)  # type: ignore[arg-type]


def _peaks(fields: Fields, form: Mapping[str, Json]) -> dict[str, int]:
    peaks = form.get("peak_bytes")
    if isinstance(peaks, dict):
        return {name: fields.whole(peaks, name, "peak_bytes") for name in peaks}
    if peaks is not None:
        fields.wrong("peak_bytes", f"must be an object of devices, not {kind_of(peaks)}")
    return {}


def _event(fields: Fields, row: Mapping[str, Json], place: str) -> Event | None:
    kind = row.get("kind")
    start_ns = fields.whole(row, "start_ns", place)
    end_ns = fields.whole(row, "end_ns", place)
    if kind in ("compute", "recompute"):  # no set: what stands there may be a list
        return Compute(
            operator=fields.name(row, "operator", place),
            device=fields.name(row, "device", place),
            start_ns=start_ns,
            end_ns=end_ns,
            again=kind == "recompute",
            implementation=fields.text_or_none(row, "implementation", place),
        )
    if kind == "transfer":
        return Transfer(
            tensor=fields.name(row, "tensor", place),
            source=fields.name(row, "source", place),
            destination=fields.name(row, "destination", place),
            start_ns=start_ns,
            end_ns=end_ns,
        )
    if kind == "free":
        if start_ns != end_ns:
            fields.wrong(at(place, "end_ns"), f"must equal start_ns ({start_ns}), since a free takes no time")
        return Free(fields.name(row, "tensor", place), fields.name(row, "device", place), start_ns)
    what = f"must be {_KINDS}, not {show(kind)}" if "kind" in row else f"is missing ({_KINDS})"
    fields.wrong(at(place, "kind"), what)
    return None


def plan_to_json(plan: Plan) -> dict[str, Json]:
    """The plan as the JSON object of its file."""
    explanation = {"explanation": plan.explanation} if plan.explanation else {}
    return {
        "format": FORMAT,
        "version": 1,
        "strategy": plan.strategy,
        "status": str(plan.status),
        "clock": str(plan.clock),
        "total_ns": plan.total_ns,
        "lower_bound_ns": plan.lower_bound_ns,
        "gap": plan.gap_ratio,
        "runtime_s": plan.runtime_s,
        "peak_bytes": dict(plan.peak_bytes),
        **explanation,
        "events": [event_to_json(event) for event in plan.events],
        "problem": problem_to_json(plan.problem),
    }


def event_to_json(event: Event) -> dict[str, Json]:
    """One event as its file has it."""
    times = {"start_ns": event.start_ns, "end_ns": event.end_ns}
    if isinstance(event, Compute):
        way = {} if event.implementation is None else {"implementation": event.implementation}
        return {"kind": event.kind, "operator": event.operator, "device": event.device, **way, **times}
    if isinstance(event, Transfer):
        ends = {"source": event.source, "destination": event.destination}
        return {"kind": event.kind, "tensor": event.tensor, **ends, **times}
    return {"kind": event.kind, "tensor": event.tensor, "device": event.device, **times}


def write_plan(plan: Plan, path: Path) -> None:
    """Write a plan file whole, or leave what was there."""
    write_text(path, format_json(plan_to_json(plan)))
