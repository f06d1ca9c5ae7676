"""A report in one HTML file: the picture, and the figures of a plan in tables. It loads nothing and runs nothing."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from xengine_gui.model.plan import Clock, Compute, Plan, Transfer
from xengine_gui.paths import resources
from xengine_gui.schedule.explain import Explainer
from xengine_gui.schedule.export.base import ExportOptions
from xengine_gui.schedule.replay import replay
from xengine_gui.schedule.summary import PlanSummary, summarise
from xengine_gui.schedule.verify import verify
from xengine_gui.schedule.walk import Residency
from xengine_gui.units import (
    format_count,
    format_duration,
    format_duration_exact,
    format_percent,
    format_size,
    format_size_exact,
)

_MOST_ROWS = 500
_THEMES = ("light", "dark")
_RECOMPUTED = ("operator", "kind", "phase", "device", "times", "each", "in all", "result", "had it stayed")
_TRANSFERS = ("tensor", "from", "to", "size", "at", "time")
_TENSORS = ("tensor", "made by", "brought to", "size", "held for")
_SAFE = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, slots=True)
class Figure:
    """A cell of a table: what is shown, and the exact value behind it; `over` marks what is above a limit."""

    text: str
    exact: str = ""
    over: bool = False


Cell = str | Figure
"""Texts stand on the left of their column, figures on the right."""


@dataclass(frozen=True, slots=True)
class HtmlReport:
    """A page to send around, readable for years, in light and dark."""

    key: str = "report"
    title: str = "Report"
    summary: str = "picture and tables in one HTML page that needs no network"
    suffixes: tuple[str, ...] = (".html", ".htm")
    bytes_per_event: int = 170
    timed: bool = True

    def parts(self, plan: Plan, options: ExportOptions) -> Iterable[bytes]:
        """The page, table by table."""
        return (f"{part}\n".encode() for part in _page(plan, options))


def _page(plan: Plan, options: ExportOptions) -> Iterator[str]:
    title = _text(plan.problem.name or "plan")
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_SAFE}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title>\n<style>{_style()}</style>\n</head>\n<body>\n<h1>{title}</h1>"
    yield f'<p class="muted">{_facts(plan)}</p>'
    if plan.explanation:
        yield f"<p>{_text(plan.explanation)}</p>"
    yield from _pictures(options)
    figures = summarise(plan, options.unlimited_total_ns, with_makespan=plan.has_events)
    yield from _table("Summary", ("figure", "value", "remark"), _summary(figures))
    yield from _table("Devices", ("device", "kind", "peak", "limit", "of limit", "busy"), _devices(plan, figures))
    yield from _table("Recomputed operators", _RECOMPUTED, _recomputed(plan), none="Nothing is recomputed.")
    yield from _table("Transfers", _TRANSFERS, _transfers(plan), none="Nothing is transferred.")
    yield from _table("Largest tensors", _TENSORS, _tensors(plan), most=50, none="There are no tensors.")
    yield "</body>\n</html>"


def _style() -> str:
    """The style sheet with the window's own colours, as variables of each theme."""
    colours = {
        name: json.loads((resources() / "themes" / f"{name}.json").read_text(encoding="utf-8")) for name in _THEMES
    }
    light, dark = ("".join(f"--{key}: {value};" for key, value in colours[name].items()) for name in _THEMES)
    sheet = (resources() / "report.css").read_text(encoding="utf-8")
    hidden = ".picture.dark { display: none; }"
    swapped = ".picture.light { display: none; } .picture.dark { display: block; }"
    night = f"@media (prefers-color-scheme: dark) {{ :root {{{dark}}} {swapped} }}"
    # Paper is white.
    return f":root {{{light}}}\n{hidden}\n@media screen {{ {night} }}\n{sheet}"


def _facts(plan: Plan) -> str:
    broken = verify(plan).broken if plan.has_events else ()
    clock = "one event at a time" if plan.clock is Clock.SERIAL else "devices and links side by side"
    facts = [
        f"strategy {plan.strategy}",
        f"status {plan.status}",
        f"{plan.clock} clock: {clock}",
        format_count(len(plan.problem.operators), "operator"),
        format_count(len(plan.events), "event"),
    ]
    if plan.has_events:
        facts.append(f"not valid: {broken[0]}" if broken else "verified: it keeps every rule and every limit")
    return _text(" · ".join(facts))


def _pictures(options: ExportOptions) -> Iterator[str]:
    drawn = {name: _inline(options.pictures[name], name) for name in _THEMES if name in options.pictures}
    for name, picture in drawn.items():
        # A picture that is alone is shown in both schemes.
        yield f'<div class="picture {name if len(drawn) > 1 else ""}">{picture}</div>'


def _inline(svg: str, prefix: str) -> str:
    """An SVG file's root for use within a page: no prolog, and names that no other picture of the page has."""
    root = svg[svg.index("<svg") :].strip()
    root = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", root, count=3)
    root = re.sub(r'\sid="([^"]+)"', rf' id="{prefix}-\1"', root)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{prefix}-", root)


def _table(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[Cell]], *, most: int = _MOST_ROWS, none: str = ""
) -> Iterator[str]:
    every = list(rows)
    yield f"<h2>{_text(title)}</h2>"
    if not every:
        yield f'<p class="muted">{_text(none)}</p>'
        return
    left = [isinstance(cell, str) for cell in every[0]]
    cells = "".join(
        f'<th scope="col" class="text">{h}</th>' if is_text else f'<th scope="col">{h}</th>'
        for h, is_text in zip(map(_text, heads), left, strict=True)
    )
    hidden = len(every) - most
    note = f"<caption>The first {most:,} of {len(every):,}.</caption>" if hidden > 0 else ""
    yield f'<div class="table"><table>{note}<thead><tr>{cells}</tr></thead><tbody>'
    for row in every[:most]:
        yield f"<tr>{''.join(map(_cell, row))}</tr>"
    yield "</tbody></table></div>"


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return f'<td class="text">{_text(cell)}</td>'
    exact = f' title="{_text(cell.exact)}"' if cell.exact else ""
    over = ' class="over"' if cell.over else ""
    return f"<td{over}{exact}>{_text(cell.text)}</td>"


def _text(text: str) -> str:
    """A text for HTML: markup escaped, and what does not print shown as an escape."""
    return escape("".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text))


def _time(time_ns: int) -> Figure:
    return Figure(format_duration(time_ns), format_duration_exact(time_ns))


def _size(size_bytes: int, *, over: bool = False) -> Figure:
    return Figure(format_size(size_bytes), format_size_exact(size_bytes), over)


def _summary(s: PlanSummary) -> Iterator[Sequence[Cell]]:
    yield "total", _time(s.total_ns), "one event at a time (serial clock)"
    if s.makespan_ns is not None:
        yield "makespan", _time(s.makespan_ns), "devices and links side by side (overlapped clock)"
    if s.overhead_ratio is not None:
        yield "overhead", Figure(format_percent(s.overhead_ratio)), "over the best total with unlimited memory"
    if s.lower_bound_ns is None:
        yield "lower bound", Figure("none"), "how good the plan is was not proved"
    else:
        yield "lower bound", _time(s.lower_bound_ns), "no plan has a smaller total"
    if s.gap_ratio is not None:
        yield "gap", Figure(format_percent(s.gap_ratio, 3)), "(total - lower bound) / total"
    yield "recomputed", Figure(f"{s.recompute_count:,}"), f"{format_duration(s.recompute_ns)} of computing again"
    moved = f"{format_size(s.transfer_bytes)} in {format_duration(s.transfer_ns)}"
    yield "transferred", Figure(f"{s.transfer_count:,}"), moved
    yield "freed", Figure(f"{s.free_count:,}"), ""


def _devices(plan: Plan, s: PlanSummary) -> Iterator[Sequence[Cell]]:
    for device in plan.problem.devices:
        peak, limit = s.peak_bytes.get(device.name, 0), device.memory_limit_bytes
        over = limit is not None and peak > limit
        yield (
            device.name,
            device.kind,
            _size(peak, over=over),
            Figure("unlimited") if limit is None else _size(limit),
            Figure(format_percent(peak / limit) if limit else ""),
            _time(s.busy_ns[device.name]),
        )


def _recomputed(plan: Plan) -> Iterator[Sequence[Cell]]:
    """A row per operator and device, the most expensive first; the last cell is the worst of its recomputations."""
    operators = {o.name: o for o in plan.problem.operators}
    size_bytes = {t.name: t.size_bytes for t in plan.problem.tensors}
    explainer = Explainer(plan)
    times: dict[tuple[str, str], list[int]] = {}
    over: dict[tuple[str, str], list[int]] = {}
    for i, event in enumerate(plan.events):
        if isinstance(event, Compute) and event.again:
            place = event.operator, event.device
            times.setdefault(place, []).append(event.end_ns - event.start_ns)
            stayed = explainer.why_recomputed(i).had_it_stayed
            if stayed is not None and stayed.over_bytes is not None:
                over.setdefault(place, []).append(stayed.over_bytes)
    for place, each in sorted(times.items(), key=lambda item: (-sum(item[1]), item[0])):
        operator = operators[place[0]]
        result = sum(size_bytes[t] for t in dict.fromkeys(operator.outputs))
        words = (operator.name, operator.kind, str(operator.phase), place[1])
        figures = Figure(f"{len(each):,}"), _time(max(each)), _time(sum(each)), _size(result)
        yield *words, *figures, _stayed(max(over.get(place, [0])))


def _stayed(over_bytes: int) -> Figure:
    """What the device would have come to, had the result stayed."""
    if over_bytes <= 0:
        return Figure("within the limit")
    return Figure(f"{format_size(over_bytes)} over", f"{format_size_exact(over_bytes)} above the memory limit")


def _transfers(plan: Plan) -> Iterator[Sequence[Cell]]:
    size_bytes = {t.name: t.size_bytes for t in plan.problem.tensors}
    for event in plan.events:
        if isinstance(event, Transfer):
            ends = (event.tensor, event.source, event.destination)
            yield *ends, _size(size_bytes[event.tensor]), _time(event.start_ns), _time(event.end_ns - event.start_ns)


def _tensors(plan: Plan) -> Iterator[Sequence[Cell]]:
    """A row per tensor, the largest first; how often it was brought anywhere, and for how long it was held in all."""
    producer = {t: o.name for o in plan.problem.operators for t in o.outputs}
    replayed = replay(plan)
    stays: dict[str, list[Residency]] = {}
    for stay in replayed.residencies:
        stays.setdefault(stay.tensor, []).append(stay)
    for tensor in sorted(plan.problem.tensors, key=lambda t: (-t.size_bytes, t.name)):
        mine = stays.get(tensor.name, [])
        held = sum((replayed.total_ns if s.end_ns is None else s.end_ns) - s.start_ns for s in mine)
        counts = Counter(s.device for s in mine)
        places = ", ".join(device if count == 1 else f"{device} ({count} times)" for device, count in counts.items())
        yield tensor.name, producer[tensor.name], places, _size(tensor.size_bytes), _time(held)
