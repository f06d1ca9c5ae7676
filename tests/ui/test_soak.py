"""A long day at the window: many bars painted, many plans shown, and nothing piles up.

A few replans by default; `XENGINE_SOAK=1` makes it two hundred. `pytest -s` prints the figures.
"""

import gc
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path

import pytest
from problems_fixed import training_chain
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QPixmap
from pytestqt.qtbot import QtBot
from timelines import crowded_timeline

from xengine_gui.model.problem_file import write_problem
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.timeline import TimelineView

IS_LONG = os.environ.get("XENGINE_SOAK") == "1"
REPLANS = 200 if IS_LONG else 16
WARM_UP = 50 if IS_LONG else 8
ITEMS = 50_000
MOST_GROWTH_MIB = 12.0
"""Far less than plans that are kept would take: two hundred of this size are 100 MiB and more."""

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="reads the process's figures from /proc"),
    pytest.mark.timeout(600 if IS_LONG else 120),
]


@dataclass(frozen=True)
class Use:
    """What the process uses."""

    memory_mib: float
    threads: int
    files: int

    @classmethod
    def now(cls) -> "Use":
        """Once everything that is waiting to be deleted is."""
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        page_bytes = os.sysconf("SC_PAGE_SIZE")
        return cls(
            pages * page_bytes / 2**20, threading.active_count(), sum(1 for _ in Path("/proc/self/fd").iterdir())
        )


def flat(before: Use, after: Use, what: str) -> bool:
    sys.stderr.write(f"\n{what}: {astuple(before)} -> {astuple(after)} (MiB, threads, files)\n")
    is_flat = after.memory_mib <= before.memory_mib + MOST_GROWTH_MIB
    return is_flat and after.threads <= before.threads and after.files <= before.files


def test_replanning_and_painting_leave_nothing_behind(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, plan_awaited: Callable[[], None]
) -> None:
    path = tmp_path / "soak.json"
    write_problem(training_chain(100, 10**9), path)
    window.planning.strategy = "retain-all"
    window.open_file(path)
    plan_awaited()
    before = None
    plans = set()
    for i in range(REPLANS):
        if i == WARM_UP:
            before = Use.now()
        window.document.set_limit("gpu", 10**9 - i - 1)
        window.planning.plan()
        plan_awaited()
        shown = window.document.shown
        assert shown is not None
        plans.add(shown.plan.problem.devices[0].memory_limit_bytes)
        window.centre.timeline.select_event(i)
        window.centre.timeline.grab()
    assert len(plans) == REPLANS
    assert before is not None
    assert flat(before, Use.now(), f"{REPLANS - WARM_UP} replans")


def test_fifty_thousand_painted_bars_leave_nothing_behind(qtbot: QtBot) -> None:
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(1600, 900)
    view.show()
    onto = QPixmap(view.viewport().size())
    steps = 50

    def paint_all() -> None:
        """Each bar once, wide enough to be a bar of its own."""
        timeline = crowded_timeline(ITEMS)
        view.set_timeline(timeline)
        for k in range(steps):
            view.zoom_to(timeline.end_ns * k // steps, timeline.end_ns * (k + 1) // steps)
            view.repaint_all()
            view.viewport().render(onto)

    paint_all()
    before = Use.now()
    paint_all()
    paint_all()
    assert flat(before, Use.now(), f"{2 * ITEMS} bars")
