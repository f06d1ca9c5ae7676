"""What there is to say about an operator, a tensor or a moment of a plan, in the words of the panel."""

from xengine_gui.language import tr
from xengine_gui.model.plan import Compute
from xengine_gui.ui.models.event_details import EventDetails, Fact
from xengine_gui.ui.selection_traces import Traces
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.timeline.details import shortened
from xengine_gui.units import (
    format_count,
    format_duration,
    format_duration_exact,
    format_names,
    format_percent,
    format_size,
    format_size_exact,
)

_MOST_NAMES = 12
_LONGEST = 28


def operator_details(shown: ShownPlan, traces: Traces, name: str) -> EventDetails:
    """An operator with all its computations."""
    operator, size = traces.operators[name], shown.tensor_bytes
    events = shown.plan.events
    runs = [e for e in (events[i] for i in traces.computations.get(name, ())) if isinstance(e, Compute)]
    again = [e for e in runs if e.again]
    devices = tuple(dict.fromkeys(e.device for e in runs))
    where = tr("computed on {devices}", devices=format_names(devices)) if devices else tr("not computed")
    facts = [
        Fact(tr("kind"), operator.kind),
        Fact(tr("phase"), operator.phase.value),
        Fact(tr("recomputed"), format_times(len(again)) if operator.recomputable else tr("not recomputable")),
        _time(tr("time of all"), sum(e.end_ns - e.start_ns for e in runs)),
    ]
    if again:
        facts.append(_time(tr("of that recomputing"), sum(e.end_ns - e.start_ns for e in again)))
    return EventDetails(
        name,
        where + (f", {format_count(len(again), 'recompute')}" if again else ""),
        tuple(facts),
        tuple(_size(t, size[t]) for t in dict.fromkeys(operator.inputs)),
        tuple(_size(t, size[t]) for t in dict.fromkeys(operator.outputs)),
    )


def tensor_details(shown: ShownPlan, traces: Traces, name: str) -> EventDetails:
    """A tensor with all its stays."""
    stays, end_ns = traces.stays.get(name, ()), shown.timeline.end_ns
    readers = traces.readers.get(name, ())
    maker = traces.producer.get(name, "")
    again = sum(
        e.again for e in (shown.plan.events[i] for i in traces.computations.get(maker, ())) if isinstance(e, Compute)
    )
    facts: list[Fact] = []
    if maker:
        facts.append(Fact(tr("made by"), shortened(maker, _LONGEST), maker))
        facts.append(Fact(tr("recomputed"), format_times(again)))
    by = shortened(readers[0], _LONGEST) if len(readers) == 1 else format_count(len(readers), "operator")
    facts.append(Fact(tr("read by"), by if readers else "nothing", format_names(readers, _MOST_NAMES)))
    for device in dict.fromkeys(s.device for s in stays):
        here = [s for s in stays if s.device == device]
        held = sum((end_ns if s.end_ns is None else s.end_ns) - s.start_ns for s in here)
        times = tr(" in {here} stays", here=len(here)) if len(here) > 1 else ""
        facts.append(
            Fact(tr("held on {device}", device=device), format_duration(held) + times, format_duration_exact(held))
        )
    return EventDetails(
        name, tr("tensor of {tensor_bytes}", tensor_bytes=format_size(shown.tensor_bytes[name])), tuple(facts)
    )


def moment_details(shown: ShownPlan, device: str, time_ns: int) -> EventDetails:
    """A moment, on a device or on all."""
    facts: list[Fact] = []
    for line in shown.timeline.devices:
        if device and line.device != device:
            continue
        level = level_at(shown, line.device, time_ns)
        facts.append(_size("held", level) if device else _size(tr("held on {device}", device=line.device), level))
        if line.limit_bytes:
            facts.append(
                Fact(tr("of the limit"), format_percent(level / line.limit_bytes), format_size_exact(line.limit_bytes))
            )
        if device:
            facts.append(_size(tr("highest of all"), line.peak_bytes))
    is_peak = any(d.device == device and d.peak_ns == time_ns for d in shown.timeline.devices)
    where = f"{'the peak of' if is_peak else 'memory of'} {device}" if device else tr("memory of every device")
    return EventDetails(tr("At {time_ns}", time_ns=format_duration(time_ns)), where, tuple(facts))


def level_at(shown: ShownPlan, device: str, time_ns: int) -> int:
    """What a device holds at a moment; where an instant has several levels, the highest."""
    line = next(d for d in shown.timeline.devices if d.device == device)
    if not len(line.memory_ns):
        return 0
    last = int(line.memory_ns.searchsorted(time_ns, "right")) - 1
    first = min(int(line.memory_ns.searchsorted(time_ns)), max(last, 0))
    return int(line.memory_bytes[first : max(last, 0) + 1].max())


def format_times(count: int) -> str:
    """How often, in words."""
    return "never" if count == 0 else "once" if count == 1 else tr("{count} times", count=count)


def _time(label: str, time_ns: int) -> Fact:
    return Fact(label, format_duration(time_ns), format_duration_exact(time_ns))


def _size(label: str, size_bytes: int) -> Fact:
    return Fact(label, format_size(size_bytes), format_size_exact(size_bytes))
