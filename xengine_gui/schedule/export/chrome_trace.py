"""Chrome's trace format, which Perfetto (ui.perfetto.dev) and chrome://tracing show.

A device is a process, its lanes are threads: what it computes, its frees, and one lane per link, because slices of one
thread must not overlap partly and two links into one device may. Perfetto names threads by their number alone, so a
number is used once in the whole file. Times are microseconds with the nanoseconds as a fraction, written from integers.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from xengine_gui.model.plan import Compute, Free, Plan, Transfer
from xengine_gui.schedule.export.base import ExportOptions
from xengine_gui.schedule.replay import replay

_LINES_IN_A_PART = 1000
_COLOURS = {
    "forward": "thread_state_running",
    "loss": "thread_state_iowait",
    "backward": "thread_state_runnable",
    "update": "grey",
    "recompute": "terrible",
    "transfer": "rail_response",
    "free": "olive",
}
"""Names of chrome://tracing's own palette; Perfetto colours slices by their names."""


@dataclass(frozen=True, slots=True)
class ChromeTrace:
    """Slices, memory counters and arrows between devices."""

    key: str = "trace"
    title: str = "Chrome trace"
    summary: str = "lanes, memory and transfers for Perfetto (ui.perfetto.dev) or chrome://tracing"
    suffixes: tuple[str, ...] = (".trace.json", ".json", ".trace.json.gz", ".json.gz")
    bytes_per_event: int = 300
    timed: bool = True

    def parts(self, plan: Plan, _options: ExportOptions) -> Iterable[bytes]:
        """The trace as strict JSON, an event on each line."""
        about = {
            "name": plan.problem.name,
            "strategy": plan.strategy,
            "status": str(plan.status),
            "clock": str(plan.clock),
            "total_ns": plan.total_ns,
            "lower_bound_ns": plan.lower_bound_ns,
        }
        yield f'{{"displayTimeUnit": "ns",\n"otherData": {_dumps(about)},\n"traceEvents": [\n'.encode()
        lines: list[str] = []
        lead = ""
        for line in _Lanes.of(plan).lines():
            lines.append(lead + line)
            lead = ",\n"
            if len(lines) == _LINES_IN_A_PART:
                yield "".join(lines).encode()
                lines.clear()
        yield "".join([*lines, "\n]}\n"]).encode()


def microseconds(time_ns: int) -> str:
    """A time as a JSON number in microseconds, exact: `1500`, `0.001`."""
    whole, rest = divmod(time_ns, 1000)
    return f"{whole}.{rest:03d}".rstrip("0") if rest else str(whole)


def _line(time_ns: int, what: Mapping[str, object], duration_ns: int | None = None) -> str:
    duration = "" if duration_ns is None else f', "dur": {microseconds(duration_ns)}'
    return f'{{"ts": {microseconds(time_ns)}{duration}, {_dumps(what)[1:]}'


def _dumps(value: object) -> str:
    return json.dumps(value, allow_nan=False)


@dataclass
class _Lanes:
    """The numbers of processes and threads, and the lines of a trace."""

    plan: Plan
    process: dict[str, int]
    thread: dict[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan) -> "_Lanes":
        names = [d.name for d in plan.problem.devices]
        lanes = cls(plan, {name: i + 1 for i, name in enumerate(names)})
        ways = {(e.source, e.destination) for e in plan.events if isinstance(e, Transfer)}
        places = [(name, lane) for name in names for lane in ("compute", *_ways_of(name, names, ways), "free")]
        # Above the processes' numbers: a thread with its process's number would be taken for its main thread.
        lanes.thread = {place: len(names) + 1 + i for i, place in enumerate(places)}
        return lanes

    def lines(self) -> Iterator[str]:
        yield from self._names()
        yield from self._counters()
        phase = {o.name: str(o.phase) for o in self.plan.problem.operators}
        kind = {o.name: o.kind for o in self.plan.problem.operators}
        size_bytes = {t.name: t.size_bytes for t in self.plan.problem.tensors}
        for i, event in enumerate(self.plan.events):
            if isinstance(event, Compute):
                yield self._compute(i, event, phase[event.operator], kind[event.operator])
            elif isinstance(event, Transfer):
                yield from self._transfer(i, event, size_bytes[event.tensor])
            else:
                yield self._free(i, event, size_bytes[event.tensor])

    def _names(self) -> Iterator[str]:
        for order, device in enumerate(self.plan.problem.devices):
            place = {"ph": "M", "pid": self.process[device.name]}
            limit = device.memory_limit_bytes
            words = [device.kind, "no memory limit" if limit is None else f"memory limit {limit} bytes"]
            yield _line(0, {"name": "process_name", **place, "args": {"name": device.name}})
            yield _line(0, {"name": "process_labels", **place, "args": {"labels": ", ".join(filter(None, words))}})
            yield _line(0, {"name": "process_sort_index", **place, "args": {"sort_index": order}})
        for order, (device_name, lane) in enumerate(self.thread):
            place = {"ph": "M", **self._at(device_name, lane)}
            yield _line(0, {"name": "thread_name", **place, "args": {"name": lane}})
            yield _line(0, {"name": "thread_sort_index", **place, "args": {"sort_index": order}})

    def _counters(self) -> Iterator[str]:
        memory = replay(self.plan).memory
        for device in self.plan.problem.devices:
            counter = {"ph": "C", "pid": self.process[device.name]}
            curve = memory[device.name]
            limit = {"name": "memory limit", **counter, "args": {"bytes": device.memory_limit_bytes}}
            if device.memory_limit_bytes is not None:
                yield from (_line(time_ns, limit) for time_ns in dict.fromkeys((0, curve.time_ns[-1])))
            for time_ns, level_bytes in zip(curve.time_ns, curve.level_bytes, strict=True):
                yield _line(time_ns, {"name": "memory", **counter, "args": {"bytes": level_bytes}})

    def _compute(self, i: int, event: Compute, phase: str, kind: str) -> str:
        category = "recompute" if event.again else phase
        args = {"event": i, "operator": event.operator, "kind": kind, "phase": phase}
        if event.implementation is not None:
            args["implementation"] = event.implementation
        # Perfetto gives equal names equal colours, so a recompute has a name of its own.
        name = f"recompute {event.operator}" if event.again else event.operator
        place = self._at(event.device, "compute")
        what = {"name": name, "cat": category, "ph": "X", **place, "cname": _COLOURS[category], "args": args}
        return _line(event.start_ns, what, event.end_ns - event.start_ns)

    def _transfer(self, i: int, event: Transfer, size_bytes: int) -> Iterator[str]:
        """A slice on both devices, and an arrow from the one to the other."""
        duration_ns = event.end_ns - event.start_ns
        args = {"event": i, "tensor": event.tensor, "bytes": size_bytes, "from": event.source, "to": event.destination}
        look = {"name": event.tensor, "cat": "transfer", "ph": "X", "cname": _COLOURS["transfer"], "args": args}
        arrow = {"name": "transfer", "cat": "transfer", "id": i}
        for place, end in (
            (self._at(event.source, f"to {event.destination}"), {"ph": "s"}),
            (self._at(event.destination, f"from {event.source}"), {"ph": "f", "bp": "e"}),
        ):
            yield _line(event.start_ns, {**look, **place}, duration_ns)
            if duration_ns:  # an arrow is bound to the slice around it, and nothing is around an instant
                yield _line(event.start_ns, {**arrow, **end, **place})

    def _free(self, i: int, event: Free, size_bytes: int) -> str:
        args = {"event": i, "tensor": event.tensor, "bytes": size_bytes}
        look = {"name": f"free {event.tensor}", "cat": "free", "ph": "i", "s": "t", "cname": _COLOURS["free"]}
        return _line(event.start_ns, {**look, **self._at(event.device, "free"), "args": args})

    def _at(self, device: str, lane: str) -> dict[str, int]:
        return {"pid": self.process[device], "tid": self.thread[device, lane]}


def _ways_of(name: str, names: list[str], ways: set[tuple[str, str]]) -> Iterator[str]:
    """The lanes of the links that are used, those into the device first."""
    yield from (f"from {other}" for other in names if (other, name) in ways)
    yield from (f"to {other}" for other in names if (name, other) in ways)
