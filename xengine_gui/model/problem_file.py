"""Problem files: a graph, its devices and all costs as JSON (`"format": "xengine-problem"`)."""

from collections.abc import Mapping
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.model.device import Device, Link, TransferTime
from xengine_gui.model.json_file import Fields, Json, at, format_json, kind_of, read_json
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.quick_rows import quick_operators, quick_tensors
from xengine_gui.model.tensor import Parameter, Tensor
from xengine_gui.model.whole_file import write_text

FORMAT = "xengine-problem"


def read_problem(path: Path) -> Problem:
    """The problem in a file; an `InputError` lists every mistake of the file."""
    return parse_problem(read_json(path), str(path))


def parse_problem(data: Json, source: str) -> Problem:
    """The problem in a JSON value; `source` names it in mistakes."""
    fields = Fields()
    problem = take_problem(fields, data, "")
    if problem is None or fields.mistakes:
        raise InputError(source, fields.mistakes)
    return problem


def take_problem(fields: Fields, data: Json, place: str) -> Problem | None:
    """The problem at `place` of a JSON file, with its mistakes in `fields`; `None` when there is none to speak of."""
    form = fields.form(data, place, FORMAT)
    if form is None:
        return None
    parts = {
        "name": fields.text(form, "name", place),
        "notes": fields.text(form, "notes", place),
        "devices": tuple(_device(fields, row, p) for p, row in fields.objects(form, "devices", place, needed=True)),
        "links": tuple(_link(fields, row, p) for p, row in fields.objects(form, "links", place)),
        "transfers": tuple(_transfer_time(fields, row, p) for p, row in fields.objects(form, "transfers", place)),
        "tensors": quick_tensors(form.get("tensors"))
        or tuple(
            Tensor(fields.name(row, "name", p), fields.whole(row, "bytes", p))
            for p, row in fields.objects(form, "tensors", place, needed=True)
        ),
        "parameters": tuple(
            Parameter(fields.name(row, "name", p), fields.whole(row, "bytes", p))
            for p, row in fields.objects(form, "parameters", place)
        ),
        "operators": quick_operators(form.get("operators"))
        or tuple(_operator(fields, row, p) for p, row in fields.objects(form, "operators", place, needed=True)),
        "keep": fields.names(form, "keep", place),
    }
    if fields.unnamed:
        return None
    try:
        return Problem(**parts)  # type: ignore[arg-type]
    except InputError as error:
        fields.mistakes.extend(error.mistakes)
        return None


def _device(fields: Fields, row: Mapping[str, Json], place: str) -> Device:
    return Device(
        name=fields.name(row, "name", place),
        kind=fields.text(row, "kind", place),
        memory_limit_bytes=fields.whole_or_none(row, "memory_limit_bytes", place),
        power_uw=fields.whole_or_none(row, "power_uw", place),
    )


def _link(fields: Fields, row: Mapping[str, Json], place: str) -> Link:
    return Link(
        source=fields.name(row, "source", place),
        destination=fields.name(row, "destination", place),
        bandwidth_bytes_per_s=fields.whole(row, "bandwidth_bytes_per_s", place, least=1),
        latency_ns=fields.whole(row, "latency_ns", place, default=0),
        power_uw=fields.whole_or_none(row, "power_uw", place),
    )


def _transfer_time(fields: Fields, row: Mapping[str, Json], place: str) -> TransferTime:
    return TransferTime(
        tensor=fields.name(row, "tensor", place),
        source=fields.name(row, "source", place),
        destination=fields.name(row, "destination", place),
        time_ns=fields.whole(row, "time_ns", place),
    )


def _operator(fields: Fields, row: Mapping[str, Json], place: str) -> Operator:
    return Operator(
        name=fields.name(row, "name", place),
        kind=fields.text(row, "kind", place),
        phase=fields.choice(row, "phase", place, Phase, Phase.FORWARD),
        inputs=fields.names(row, "inputs", place, needed=True),
        outputs=fields.names(row, "outputs", place, needed=True),
        parameters=fields.names(row, "parameters", place),
        recomputable=fields.flag(row, "recomputable", place, default=True),
        costs=_costs(fields, row, place),
    )


def _costs(fields: Fields, row: Mapping[str, Json], place: str) -> dict[str, tuple[Implementation, ...]]:
    costs = row.get("costs")
    if not isinstance(costs, dict):
        what = f"must be an object of devices, not {kind_of(costs)}" if "costs" in row else "is missing"
        fields.wrong(at(place, "costs"), what)
        fields.unnamed = True
        return {}
    place = at(place, "costs")
    return {
        device: tuple(
            Implementation(
                time_ns=fields.whole(way, "time_ns", p),
                workspace_bytes=fields.whole(way, "workspace_bytes", p, default=0),
                name=fields.text_or_none(way, "implementation", p),
            )
            for p, way in fields.objects(costs, device, place)
        )
        for device in costs
    }


def problem_to_json(problem: Problem) -> dict[str, Json]:
    """The problem as the JSON object of its file."""
    return {
        "format": FORMAT,
        "version": 1,
        "name": problem.name,
        "notes": problem.notes,
        "devices": [
            {"name": d.name, "kind": d.kind, "memory_limit_bytes": d.memory_limit_bytes, **_power(d.power_uw)}
            for d in problem.devices
        ],
        "links": [
            {
                "source": k.source,
                "destination": k.destination,
                "bandwidth_bytes_per_s": k.bandwidth_bytes_per_s,
                "latency_ns": k.latency_ns,
                **_power(k.power_uw),
            }
            for k in problem.links
        ],
        "transfers": [
            {"tensor": r.tensor, "source": r.source, "destination": r.destination, "time_ns": r.time_ns}
            for r in problem.transfers
        ],
        "tensors": [{"name": t.name, "bytes": t.size_bytes} for t in problem.tensors],
        "parameters": [{"name": p.name, "bytes": p.size_bytes} for p in problem.parameters],
        "operators": [_operator_to_json(o) for o in problem.operators],
        "keep": list(problem.keep),
    }


def _power(power_uw: int | None) -> dict[str, Json]:
    """A key that readers of the format may not know: it is written only where there is something to tell."""
    return {} if power_uw is None else {"power_uw": power_uw}


def _operator_to_json(operator: Operator) -> dict[str, Json]:
    return {
        "name": operator.name,
        "kind": operator.kind,
        "phase": str(operator.phase),
        "inputs": list(operator.inputs),
        "outputs": list(operator.outputs),
        "parameters": list(operator.parameters),
        "recomputable": operator.recomputable,
        "costs": {device: [_way_to_json(way) for way in ways] for device, ways in operator.costs.items()},
    }


def _way_to_json(way: Implementation) -> dict[str, Json]:
    name = {} if way.name is None else {"implementation": way.name}
    return {**name, "time_ns": way.time_ns, "workspace_bytes": way.workspace_bytes}


def write_problem(problem: Problem, path: Path) -> None:
    """Write a problem file whole, or leave what was there."""
    write_text(path, format_json(problem_to_json(problem)))
