"""How a view moves over a plan: zoom at a moment, pan, fit; never outside the plan, never too short to see."""

from xengine_gui.ui.timeline.geometry import TimeRange

LEAST_SPAN_NS = 10


def whole_range(end_ns: int) -> TimeRange:
    """The view of a whole plan; a plan of no length still has a view."""
    return TimeRange(0, max(end_ns, LEAST_SPAN_NS))


def clamped(start_ns: int, span_ns: int, whole: TimeRange) -> TimeRange:
    """The view nearest to the one asked for that lies within the plan."""
    span = min(max(span_ns, LEAST_SPAN_NS), whole.span_ns)
    start = min(max(start_ns, whole.start_ns), whole.end_ns - span)
    return TimeRange(start, start + span)


def zoomed(view: TimeRange, whole: TimeRange, factor: float, at_ns: int) -> TimeRange:
    """Zoom in (factor above 1) or out, so that the moment `at_ns` stays where it is on the screen."""
    span = min(max(round(view.span_ns / factor), LEAST_SPAN_NS), whole.span_ns)
    # Exact in integers, so that a moment does not creep while the wheel turns.
    start = at_ns - (at_ns - view.start_ns) * span // view.span_ns
    return clamped(start, span, whole)


def panned(view: TimeRange, whole: TimeRange, by_ns: int) -> TimeRange:
    """Move the view later (positive) or earlier."""
    return clamped(view.start_ns + by_ns, view.span_ns, whole)


def around(start_ns: int, end_ns: int, whole: TimeRange, margin_ratio: float = 0.15) -> TimeRange:
    """The view of a stretch of time with some room on both sides."""
    span = max(end_ns - start_ns, 1)
    margin = round(span * margin_ratio)
    return clamped(start_ns - margin, span + 2 * margin, whole)
