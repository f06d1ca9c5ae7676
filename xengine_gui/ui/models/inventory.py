"""The operators and the tensors of a plan with their figures: how often, how long, how many bytes, how long held."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QObject

from xengine_gui.language import tr
from xengine_gui.model.plan import Compute
from xengine_gui.ui.models.rows_model import ColumnOf, RowsModel
from xengine_gui.ui.selection_traces import Traces
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.timeline.details import printable, shortened
from xengine_gui.units import format_duration, format_duration_exact, format_size, format_size_exact

_NOTHING = "–"  # noqa: RUF001
_LONGEST = 70
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """An operator in a plan; `again_ns` is the time of its recomputations, `time_ns` that of all its computations."""

    number: int
    name: str
    kind: str
    phase: str
    devices: tuple[str, ...]
    recomputes: int
    time_ns: int
    again_ns: int
    output_bytes: int
    workspace_bytes: int


@dataclass(frozen=True, slots=True)
class TensorRow:
    """A tensor in a plan; `held_ns` is how long it is on any device, `longest_ns` its longest stay on one."""

    name: str
    producer: str
    size_bytes: int
    readers: int
    recomputes: int
    transfers: int
    stays: int
    held_ns: int
    longest_ns: int


def operator_rows(shown: ShownPlan, traces: Traces) -> list[OperatorRow]:
    """Every operator, in base order."""
    size, events = shown.tensor_bytes, shown.plan.events
    workspace = {
        (o.name, device, way.name): way.workspace_bytes
        for o in shown.plan.problem.operators
        for device, ways in o.costs.items()
        for way in ways
    }
    rows = []
    for number, operator in enumerate(shown.plan.problem.operators, 1):
        runs = [e for e in (events[i] for i in traces.computations.get(operator.name, ())) if isinstance(e, Compute)]
        rows.append(
            OperatorRow(
                number,
                operator.name,
                operator.kind,
                operator.phase.value,
                tuple(dict.fromkeys(e.device for e in runs)),
                sum(e.again for e in runs),
                sum(e.end_ns - e.start_ns for e in runs),
                sum(e.end_ns - e.start_ns for e in runs if e.again),
                sum(size[t] for t in dict.fromkeys(operator.outputs)),
                max((workspace.get((e.operator, e.device, e.implementation), 0) for e in runs), default=0),
            )
        )
    return rows


def tensor_rows(shown: ShownPlan, traces: Traces) -> list[TensorRow]:
    """Every tensor, in the order of the problem."""
    end_ns, events = shown.timeline.end_ns, shown.plan.events
    rows = []
    for tensor in shown.plan.problem.tensors:
        stays = traces.stays.get(tensor.name, ())
        lengths = [(end_ns if s.end_ns is None else s.end_ns) - s.start_ns for s in stays]
        producer = traces.producer.get(tensor.name, "")
        runs = [e for e in (events[i] for i in traces.computations.get(producer, ())) if isinstance(e, Compute)]
        rows.append(
            TensorRow(
                tensor.name,
                producer,
                tensor.size_bytes,
                len(traces.readers.get(tensor.name, ())),
                sum(e.again for e in runs),
                len(traces.transfers.get(tensor.name, ())),
                len(stays),
                sum(lengths),
                max(lengths, default=0),
            )
        )
    return rows


def operator_model(parent: QObject | None = None) -> RowsModel[OperatorRow]:
    """The model of the operator table."""
    columns: Sequence[ColumnOf[OperatorRow]] = (
        ColumnOf(tr("order"), lambda r: str(r.number), lambda r: r.number, tip=tr("place in the base order")),
        ColumnOf(
            tr("operator"),
            lambda r: shortened(r.name, _LONGEST),
            lambda r: r.name,
            lambda r: printable(r.name),
            is_number=False,
        ),
        ColumnOf(tr("kind"), lambda r: r.kind, lambda r: r.kind, is_number=False),
        ColumnOf(tr("phase"), lambda r: r.phase, lambda r: r.phase, is_number=False),
        ColumnOf("on", lambda r: ", ".join(r.devices), lambda r: r.devices, is_number=False),
        ColumnOf(tr("recomputed"), lambda r: _times(r.recomputes), lambda r: r.recomputes),
        _time("time", lambda r: r.time_ns, tr("of all its computations")),
        _time("recomputing", lambda r: r.again_ns, tr("the part of it that recomputations take")),
        _size("result", lambda r: r.output_bytes, tr("bytes of all that it makes")),
        _size("workspace", lambda r: r.workspace_bytes, tr("bytes that it needs while it runs")),
    )
    return RowsModel(
        columns,
        name=lambda r: r.name,
        words=lambda r: f"{r.name} {r.kind} {r.phase} {' '.join(r.devices)}".casefold(),
        parent=parent,
    )


def tensor_model(parent: QObject | None = None) -> RowsModel[TensorRow]:
    """The model of the tensor table."""
    columns: Sequence[ColumnOf[TensorRow]] = (
        ColumnOf(
            tr("tensor"),
            lambda r: shortened(r.name, _LONGEST),
            lambda r: r.name,
            lambda r: printable(r.name),
            is_number=False,
        ),
        ColumnOf(
            tr("made by"),
            lambda r: shortened(r.producer, _LONGEST),
            lambda r: r.producer,
            lambda r: printable(r.producer),
            is_number=False,
        ),
        _size("size", lambda r: r.size_bytes),
        ColumnOf(tr("readers"), lambda r: str(r.readers), lambda r: r.readers, tip=tr("operators that read it")),
        ColumnOf(tr("recomputed"), lambda r: _times(r.recomputes), lambda r: r.recomputes),
        ColumnOf(tr("transfers"), lambda r: str(r.transfers or _NOTHING), lambda r: r.transfers),
        ColumnOf(tr("stays"), lambda r: str(r.stays), lambda r: r.stays, tip=tr("how often it comes to a device")),
        _time("held", lambda r: r.held_ns, tr("how long it is on any device, all stays together")),
        _time(tr("longest stay"), lambda r: r.longest_ns, tr("the longest time that it is retained on one device")),
    )
    return RowsModel(columns, name=lambda r: r.name, words=lambda r: f"{r.name} {r.producer}".casefold(), parent=parent)


def _time(title: str, value: Callable[[_Row], int], tip: str = "") -> ColumnOf[_Row]:
    return ColumnOf(
        title,
        lambda r: format_duration(value(r)) if value(r) else _NOTHING,
        value,
        lambda r: format_duration_exact(value(r)),
        tip,
    )


def _size(title: str, value: Callable[[_Row], int], tip: str = "") -> ColumnOf[_Row]:
    return ColumnOf(
        title,
        lambda r: format_size(value(r)) if value(r) else _NOTHING,
        value,
        lambda r: format_size_exact(value(r)),
        tip,
    )


def _times(count: int) -> str:
    return f"{count}×" if count else _NOTHING  # noqa: RUF001
