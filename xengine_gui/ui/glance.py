"""The first picture of a large plan: its events, before its problem is read and the plan is judged."""

from itertools import pairwise
from typing import Any

from xengine_gui.errors import InputError
from xengine_gui.model.device import Device
from xengine_gui.model.json_file import Json
from xengine_gui.model.operator import Phase
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.quick_rows import quick_events
from xengine_gui.schedule.timeline import Timeline, lanes_of
from xengine_gui.ui.shown_plan import MANY_EVENTS


def glance_of(data: Json) -> Timeline | None:
    """The lanes of a plan file that has many events, without memory; `None` where something is not as usual in it."""
    form: Any = data
    try:
        rows, problem = form["events"], form["problem"]
        events = (len(rows) > MANY_EVENTS and quick_events(rows)) or ()
        if not events or any(b.start_ns < a.start_ns for a, b in pairwise(events)):
            return None
        devices = tuple(Device(str(row["name"]), "", row.get("memory_limit_bytes")) for row in problem["devices"])
        phases = {row["name"]: Phase(row.get("phase", "forward")) for row in problem["operators"]}
        return lanes_of(Plan(Problem("", devices, (), ()), "", Status.UNKNOWN, events), phases, {})
    except (AttributeError, KeyError, TypeError, ValueError, InputError):
        return None
