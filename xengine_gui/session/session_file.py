"""Session files (`"format": "xengine-session"`, suffix `.xengine`): small, readable, written whole or not at all.

The network (or problem, or plan) is named by its path from the session file, one of the samples as `sample:NAME`. Keys
that this version does not know are kept and written again; constraints are kept as they stand.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from xengine_gui.cost import DeviceChoice, device_preset
from xengine_gui.errors import InputError
from xengine_gui.importers.torch_format.consent import refuse_unnamed
from xengine_gui.model.device import Link
from xengine_gui.model.json_file import Fields, Json, at, format_json, kind_of, read_json, show
from xengine_gui.model.plan import Clock, Drop, Move, Run, Status, Step
from xengine_gui.model.whole_file import write_text
from xengine_gui.paths import sample_graphs
from xengine_gui.session.content import SavedPlan, Session, View
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.objective import Objective

FORMAT = "xengine-session"
SUFFIX = ".xengine"
_SAMPLE = "sample:"
_THEMES = ("system", "light", "dark")
_KEYS = frozenset(
    {
        "format", "version", "file", "devices", "training", "optimizer", "batch", "bindings", "sizes",
        "mapping", "links", "implementations", "limits", "constraints", "costs", "report",
        "strategy", "gap_ratio", "time_limit_s", "objective", "deadline_ns", "view", "plans",
    }
)  # fmt: skip
_STEPS: Mapping[str, tuple[type[Run] | type[Move] | type[Drop], tuple[int, ...]]] = {
    "run": (Run, (2, 3)),
    "move": (Move, (3,)),
    "free": (Drop, (2,)),
}
"""How steps are called, and how many numbers each has: those of the step's fields, positions in the problem."""
_STEP_FORMS = '["run", device, operator], ["move", from, to, tensor] or ["free", device, tensor]'
_WORDS = {kind: word for word, (kind, _) in _STEPS.items()}
_Value = TypeVar("_Value")


def read_session(path: Path) -> Session:
    """The session in a file; an `InputError` lists every mistake of the file.

    A session whose network is a Python file is refused unless the user has opened that file by name.
    """
    session = parse_session(read_json(path), str(path), path.parent)
    refuse_unnamed(session.file, str(path))
    return session


def parse_session(data: Json, source: str, folder: Path) -> Session:
    """The session in a JSON value; paths are from `folder`, `source` names it in mistakes."""
    fields = Fields()
    form = fields.form(data, "", FORMAT)
    if form is None:
        raise InputError(source, fields.mistakes)
    options = SolveOptions()
    name = fields.name(form, "file", "")
    if not name.strip() and not fields.mistakes:
        fields.wrong("file", "is empty")
    session = Session(
        file=_path(name, folder),
        devices=tuple(_device(fields, row, place) for place, row in fields.objects(form, "devices", "")),
        training=fields.flag(form, "training", "", default=True),
        optimizer=fields.text(form, "optimizer", "") or "sgd",
        batch=fields.whole(form, "batch", "", least=1) if form.get("batch") is not None else None,
        bindings=_values(fields, form, "bindings", lambda row, key, place: fields.whole(row, key, place, least=1)),
        sizes=_values(fields, form, "sizes", fields.whole),
        mapping=_values(fields, form, "mapping", fields.name),
        links=tuple(_link(fields, row, place) for place, row in fields.objects(form, "links", "")),
        implementations=fields.flag(form, "implementations", "", default=False),
        limits=_values(fields, form, "limits", fields.whole_or_none),
        constraints=tuple(fields.rows(form, "constraints", "")),
        costs=tuple(_path(name, folder) for name in fields.names(form, "costs", "")),
        report=fields.names(form, "report", ""),
        strategy=fields.text(form, "strategy", "") or "optimal",
        gap_ratio=_share(fields, form, "gap_ratio", options.gap_ratio),
        time_limit_s=_seconds(fields, form, "time_limit_s", options.time_limit_s),
        objective=fields.choice(form, "objective", "", Objective, Objective.TIME),
        deadline_ns=fields.whole(form, "deadline_ns", "", least=1) if form.get("deadline_ns") is not None else None,
        view=_view(fields, form),
        plans=tuple(_plan(fields, row, place) for place, row in fields.objects(form, "plans", "")),
        unknown={key: value for key, value in form.items() if key not in _KEYS},
    )
    names = [device.name for device in session.devices]
    for repeated in dict.fromkeys(n for n in names if n and names.count(n) > 1):
        fields.wrong("devices", f"have two of the name {repeated!r}")
    if fields.mistakes:
        raise InputError(source, fields.mistakes)
    return session


def _path(name: str, folder: Path) -> Path:
    if name.startswith(_SAMPLE):
        return sample_graphs() / Path(name.removeprefix(_SAMPLE)).name
    return Path(os.path.normpath(folder / name))


def _device(fields: Fields, row: Mapping[str, Json], place: str) -> DeviceChoice:
    preset = fields.name(row, "preset", place)
    try:
        device_preset(preset)
    except InputError as error:
        if preset:
            fields.wrong(at(place, "preset"), f"is unknown: {error}")
    limit = fields.whole_or_none(row, "memory_limit_bytes", place)
    return DeviceChoice(fields.name(row, "name", place), preset, limit)


def _link(fields: Fields, row: Mapping[str, Json], place: str) -> Link:
    return Link(
        source=fields.name(row, "source", place),
        destination=fields.name(row, "destination", place),
        bandwidth_bytes_per_s=fields.whole(row, "bandwidth_bytes_per_s", place, least=1),
        latency_ns=fields.whole(row, "latency_ns", place, default=0),
        power_uw=fields.whole_or_none(row, "power_uw", place),
    )


def _object(fields: Fields, form: Mapping[str, Json], key: str) -> dict[str, Json]:
    value = form.get(key)
    if isinstance(value, dict):
        return value
    if value is not None:
        fields.wrong(key, f"must be an object, not {kind_of(value)}")
    return {}


def _values(
    fields: Fields, form: Mapping[str, Json], key: str, take: Callable[[Mapping[str, Json], str, str], _Value]
) -> dict[str, _Value]:
    row = _object(fields, form, key)
    return {name: take(row, name, key) for name in row}


def _share(fields: Fields, form: Mapping[str, Json], key: str, default: float) -> float:
    value = fields.number(form, key, "") if form.get(key) is not None else default
    if not 0 <= value < 1:
        fields.wrong(key, f"must be a share from 0 to below 1, not {show(value)}")
        return default
    return value


def _seconds(fields: Fields, form: Mapping[str, Json], key: str, default: float | None) -> float | None:
    if key not in form:
        return default
    if form[key] is None:
        return None
    before = len(fields.mistakes)
    value = fields.number(form, key, "")
    if value <= 0 and len(fields.mistakes) == before:
        fields.wrong(key, f"must be above 0 (or null for no limit), not {show(value)}")
    return value if value > 0 else default


def _view(fields: Fields, form: Mapping[str, Json]) -> View:
    row = _object(fields, form, "view")
    theme = fields.text(row, "theme", "view")
    if theme and theme not in _THEMES:
        fields.wrong("view.theme", f"must be one of {', '.join(_THEMES)}, not {show(theme)}")
    return View(
        start_ns=fields.whole_or_none(row, "start_ns", "view"),
        end_ns=fields.whole_or_none(row, "end_ns", "view"),
        clock=fields.choice(row, "clock", "view", Clock, Clock.SERIAL),
        theme=theme,
        centre=fields.text(row, "centre", "view"),
        below=fields.text(row, "below", "view"),
        folded=fields.names(row, "folded", "view"),
    )


def _plan(fields: Fields, row: Mapping[str, Json], place: str) -> SavedPlan:
    return SavedPlan(
        strategy=fields.text(row, "strategy", place),
        status=fields.choice(row, "status", place, Status, Status.FEASIBLE),
        steps=tuple(
            step
            for i, item in enumerate(fields.rows(row, "steps", place, needed=True))
            if (step := _step(fields, item, f"{at(place, 'steps')}[{i}]")) is not None
        ),
        problem_digest=fields.text(row, "problem_digest", place),
        lower_bound_ns=fields.whole_or_none(row, "lower_bound_ns", place),
        runtime_s=fields.number(row, "runtime_s", place),
        explanation=fields.text(row, "explanation", place),
    )


def _step(fields: Fields, item: Json, place: str) -> Step | None:
    word, *numbers = item if isinstance(item, list) and item else (None,)
    kind, counts = _STEPS.get(word, (None, ())) if isinstance(word, str) else (None, ())
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers)
    if kind is None or len(numbers) not in counts or not whole:
        fields.wrong(place, f"must be {_STEP_FORMS}, not {show(item)}")
        return None
    return kind(*numbers)


# ---- writing


def write_session(session: Session, path: Path) -> None:
    """Write a session file whole, or leave what was there."""
    write_text(path, format_json(session_to_json(session, path.parent)))


def session_to_json(session: Session, folder: Path) -> dict[str, Json]:
    """The session as the JSON object of a file in `folder`; what is not given is left out."""
    view = session.view
    return {
        "format": FORMAT,
        "version": 1,
        "file": path_from(session.file, folder),
        **({"batch": session.batch} if session.batch is not None else {}),
        **({"bindings": dict(session.bindings)} if session.bindings else {}),
        **({"sizes": dict(session.sizes)} if session.sizes else {}),
        **({"mapping": dict(session.mapping)} if session.mapping else {}),
        **({"training": session.training, "optimizer": session.optimizer} if session.devices else {}),
        **({"devices": [_device_row(d) for d in session.devices]} if session.devices else {}),
        **({"links": [_link_row(link) for link in session.links]} if session.links else {}),
        **({"implementations": True} if session.implementations else {}),
        **({"limits": dict(session.limits)} if session.limits else {}),
        **({"constraints": list(session.constraints)} if session.constraints else {}),
        **({"costs": [path_from(path, folder) for path in session.costs]} if session.costs else {}),
        **({"report": list(session.report)} if session.report else {}),
        "strategy": session.strategy,
        "gap_ratio": session.gap_ratio,
        "time_limit_s": session.time_limit_s,
        **({"objective": str(session.objective)} if session.objective is not Objective.TIME else {}),
        **({"deadline_ns": session.deadline_ns} if session.deadline_ns is not None else {}),
        "view": {
            **(
                {}
                if view.start_ns is None or view.end_ns is None
                else {"start_ns": view.start_ns, "end_ns": view.end_ns}
            ),
            "clock": str(view.clock),
            **({"theme": view.theme} if view.theme else {}),
            **({"centre": view.centre} if view.centre else {}),
            **({"below": view.below} if view.below else {}),
            **({"folded": list(view.folded)} if view.folded else {}),
        },
        "plans": [_plan_row(plan) for plan in session.plans],
        **session.unknown,
    }


def path_from(file: Path, folder: Path) -> str:
    """How a session in `folder` names a file: by the way to it, so that both may move together."""
    file, folder = Path(os.path.abspath(file)), Path(os.path.abspath(folder))  # noqa: PTH100 - links stay as they are
    samples = sample_graphs()
    if file.parent == samples and folder != samples:
        return f"{_SAMPLE}{file.name}"
    try:
        return Path(os.path.relpath(file, folder)).as_posix()
    except ValueError:  # on another drive
        return file.as_posix()


def _device_row(device: DeviceChoice) -> dict[str, Json]:
    limit = {} if device.memory_limit_bytes is None else {"memory_limit_bytes": device.memory_limit_bytes}
    return {"name": device.name, "preset": device.preset, **limit}


def _link_row(link: Link) -> dict[str, Json]:
    ends: dict[str, Json] = {"source": link.source, "destination": link.destination}
    power = {} if link.power_uw is None else {"power_uw": link.power_uw}
    return {**ends, "bandwidth_bytes_per_s": link.bandwidth_bytes_per_s, "latency_ns": link.latency_ns, **power}


def _plan_row(plan: SavedPlan) -> dict[str, Json]:
    bound = {} if plan.lower_bound_ns is None else {"lower_bound_ns": plan.lower_bound_ns}
    explanation = {"explanation": plan.explanation} if plan.explanation else {}
    return {
        "strategy": plan.strategy,
        "status": str(plan.status),
        **bound,
        "runtime_s": plan.runtime_s,
        **explanation,
        "problem_digest": plan.problem_digest,
        "steps": [_step_row(step) for step in plan.steps],
    }


def _step_row(step: Step) -> list[Json]:
    numbers: tuple[int, ...] = step
    if isinstance(step, Run) and not step.implementation:
        numbers = step[:2]
    return [_WORDS[type(step)], *numbers]
