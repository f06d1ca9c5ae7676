"""How the window keeps up: from each stop of a dragged limit to its plan, and how late the event loop gets.

    PYTHONPATH=.:tests python tests/benchmarks/window_rows.py [--stops 40] [--open FILE] [--while-solving] [PART ...]

opens the demo (ResNet-50, training at batch 32, a CPU and a GPU) or a file in a window that needs no display, and
prints a row for each part: drag, exports, session, selecting, clock, graph, why, compare, sweep; without any, for all.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.lateness import LatenessMeter
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from xengine_gui import paths
from xengine_gui.model.plan import Clock
from xengine_gui.schedule.export import EXPORTERS, ExportOptions
from xengine_gui.schedule.verify import verify
from xengine_gui.ui import exporting
from xengine_gui.ui.main_window import MainWindow

MOST_S = 120.0
STUDIED_S = 12.0
BETWEEN_MOVES_S = 0.012
SHARES = (
    0.9,
    0.8,
    0.7,
    0.62,
    0.55,
    0.5,
    0.47,
    0.55,
    0.65,
    0.8,
    0.95,
    1.05,
    0.7,
    1.07,
    0.58,
    0.49,
    0.75,
    0.6,
    0.66,
    0.85,
)
"""Where a drag stops, as shares of the limit it begins at: down to near the smallest that fits, and up."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of the mouse: the limit there, and how long after the last move its plan was on the screen."""

    memory_limit_bytes: int
    total_ns: int
    waited_s: float


class Driver:
    """A hand on the mouse of a window."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window

    def wait(self, until: Callable[[], bool], most_s: float = MOST_S) -> bool:
        """Let the window work until something holds, or for so long; whether it holds."""
        end = time.monotonic() + most_s
        while not until():
            QApplication.processEvents()
            time.sleep(0.0005)
            if time.monotonic() > end:
                return False
        return True

    def pause(self, seconds: float) -> None:
        """Let the window work for a while."""
        self.wait(lambda: False, seconds)

    def at_rest(self) -> bool:
        """Whether a plan of now is shown and nothing is under way."""
        w = self.window
        return not (w.planning.running or w.document.busy or w.document.stale) and w.document.shown is not None

    def drag(self, device: str, shares: Sequence[float], moves: int = 8) -> Iterator[Stop]:
        """Drag the limit of a device from stop to stop, given as shares of the limit of now."""
        at = self._line(device)
        before = self._limit(device)
        self._mouse(QEvent.Type.MouseButtonPress, at)
        for share in shares:
            to = self._line(device, round(share * before))
            for i in range(1, moves + 1):
                self._mouse(QEvent.Type.MouseMove, at + (to - at) * (i / moves))
                moved = time.perf_counter()
                if i < moves:
                    self.pause(BETWEEN_MOVES_S)
            at = to
            limit = self._limit(device)
            if not self.wait(lambda limit=limit: self._shows(device, limit), 10.0):
                raise TimeoutError(f"no plan was shown for {limit} bytes")
            waited_s = time.perf_counter() - moved
            shown = self.window.document.shown
            assert shown is not None
            assert verify(shown.plan).ok
            yield Stop(limit, shown.plan.total_ns or 0, waited_s)
            self.pause(0.1)
        self._mouse(QEvent.Type.MouseButtonRelease, at)

    def _shows(self, device: str, limit_bytes: int) -> bool:
        """Whether the timeline shows a plan that was made for this limit."""
        work, timeline = self.window.document.work, self.window.centre.timeline.timeline()
        return (
            work is not None
            and work.problem.device(device).memory_limit_bytes == limit_bytes
            and timeline is not None
            and timeline.plan.problem is work.problem
        )

    def _limit(self, device: str) -> int:
        frame = self.window.centre.timeline.frame()
        assert frame is not None
        return next(frame.limit_bytes(d.device) or 0 for d in frame.index.devices if d.name == device)

    def _line(self, device: str, limit_bytes: int | None = None) -> QPointF:
        """A place on the line of a limit, or where it would be."""
        frame = self.window.centre.timeline.frame()
        assert frame is not None
        position = next(i for i, d in enumerate(frame.index.devices) if d.name == device)
        limit_bytes = self._limit(device) if limit_bytes is None else limit_bytes
        return QPointF(frame.layout.left + frame.layout.plot_width / 2, frame.memory_scale(position).y(limit_bytes))

    def _mouse(self, kind: QEvent.Type, at: QPointF) -> None:
        view = self.window.centre.timeline.viewport()
        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        button = none if kind is QEvent.Type.MouseMove else left
        held = none if kind is QEvent.Type.MouseButtonRelease else left
        QApplication.sendEvent(
            view, QMouseEvent(kind, at, view.mapToGlobal(at), button, held, Qt.KeyboardModifier.NoModifier)
        )


class Measured:
    """The parts that can be measured, each as the user would do it."""

    def __init__(self, driver: Driver, folder: Path) -> None:
        self.driver, self.window, self.folder = driver, driver.window, folder
        self.meter = LatenessMeter()

    @contextmanager
    def row(self, name: str) -> Iterator[None]:
        """Print how late the loop got within."""
        with self.meter.running() as meter:
            yield
            self.driver.pause(0.3)
        worst, own = meter.worst, meter.worst_own
        late = sum(gap.own_ms > 50 for gap in meter.gaps)
        print(
            f"{name:24} worst {worst.wall_ms:5.0f} ms on the wall, {own.own_ms:4.0f} ms of this process, "
            f"{meter.worst_thread_ms:4.0f} ms of the window's thread; {late} of {len(meter.gaps)} turns above 50 ms"
        )

    def drag(self, count: int) -> None:
        """Stops of a drag."""
        shares = [SHARES[i % len(SHARES)] for i in range(count)]
        with self.row("drag"):
            stops = list(self.driver.drag("gpu", shares))
        waited = sorted(1000 * stop.waited_s for stop in stops)
        first, late = 1000 * stops[0].waited_s, sum(ms > 300 for ms in waited)
        print(
            f"  to the plan of a stop: median {statistics.median(waited):.0f} ms, 95 % "
            f"{waited[int(0.95 * (len(waited) - 1))]:.0f}, worst {waited[-1]:.0f}, the first {first:.0f}; "
            f"{late} of {len(waited)} above 300"
        )
        self.driver.wait(self.driver.at_rest)

    def exports(self) -> None:
        """Every exporter, and pictures."""
        w = self.window
        for one in EXPORTERS:
            with self.row(f"export: {one.key}"):
                shown = w.clock_view.shown
                assert shown is not None
                w.exporting.write(shown, one, self.folder / f"out{one.suffixes[0]}", ExportOptions())
                self.driver.wait(lambda: not w.exporting.busy)
        for suffix in (".svg", ".png", ".pdf"):
            exporting.ask_for_picture_file = lambda *_, suffix=suffix: self.folder / f"out{suffix}"  # type: ignore[assignment,misc]
            with self.row(f"picture: {suffix}"):
                w.exporting.ask_for_picture()
                self.driver.wait(lambda: not w.exporting.busy)

    def session(self) -> None:
        """Saving, and opening what was saved."""
        w, path = self.window, self.folder / "work.xengine"
        with self.row("session: save"), self._told(w.sessions.said) as told:
            w.sessions.save(path)
            self.driver.wait(lambda: bool(told))
        with self.row("session: open"), self._told(w.document.opened) as told:
            w.open_file(path)
            self.driver.wait(lambda: bool(told))
        self.driver.wait(self.driver.at_rest)

    def selecting(self) -> None:
        """Events here and there, with their reasons."""
        view, shown = self.window.centre.timeline, self.window.clock_view.shown
        count = 0 if shown is None else len(shown.plan.events)
        with self.row("selecting"):
            for i in range(0, count, max(1, count // 25)):
                view.select_event(i)
                self.driver.pause(0.1)

    def clock(self) -> None:
        """The other clock, and back."""
        with self.row("clock"):
            for clock in (Clock.OVERLAPPED, Clock.SERIAL):
                self.window.clock_view.set_clock(clock)
                self.driver.pause(1.0)

    def graph(self) -> None:
        """The graph, laid out for the first time, and the timeline again."""
        for key in ("view_graph", "view_timeline"):
            if key in self.window.actions_by_key:
                with self.row(key.replace("_", " ")):
                    self.window.actions_by_key[key].trigger()
                    self.driver.pause(1.5)

    def why(self) -> None:
        """What would make the first recompute vanish."""
        shown, what_if = self.window.document.shown, self.window.what_if
        again = [i for i, e in enumerate(shown.plan.events if shown else ()) if e.kind == "recompute"]
        if again:
            with self.row("why, re-solved"):
                self.window.centre.timeline.select_event(again[0])
                what_if.ask()
                self.driver.wait(lambda: not what_if.job.running, STUDIED_S)
                what_if.job.stop()
                self.driver.wait(lambda: not what_if.job.running)

    def compare(self) -> None:
        """All strategies that are ticked, for a while."""
        self._study("compare", self.window.studies.comparing)

    def sweep(self) -> None:
        """The sweep that is proposed, for a while."""
        self._study("sweep", self.window.studies.sweeping)

    def _study(self, name: str, study: "exporting.QObject") -> None:
        job = study.job  # type: ignore[attr-defined]
        with self.row(name):
            study.run()  # type: ignore[attr-defined]
            self.driver.wait(lambda: not job.running, STUDIED_S)
            job.stop()
            self.driver.wait(lambda: not job.running)

    @staticmethod
    @contextmanager
    def _told(signal: object) -> Iterator[list[object]]:
        told: list[object] = []
        signal.connect(told.append)  # type: ignore[attr-defined]
        yield told
        signal.disconnect(told.append)  # type: ignore[attr-defined]


PARTS = ("drag", "exports", "session", "selecting", "clock", "graph", "why", "compare", "sweep")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--stops", type=int, default=40, help="how often a drag stops")
    parser.add_argument("--open", type=Path, metavar="FILE", help="in place of the demo")
    parser.add_argument("--while-solving", action="store_true", help="begin before the first solve has ended")
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from xengine_gui.ui.application import load_ahead, make_application  # noqa: PLC0415 - the platform is set first

    with tempfile.TemporaryDirectory() as folder:
        paths.state_folder = paths.config_folder = lambda: Path(folder)  # nothing of the user's is touched
        make_application()
        window = MainWindow()
        window.resize(1600, 900)
        window.show()
        load_ahead()
        driver = Driver(window)
        driver.pause(1.5)
        measured = Measured(driver, Path(folder))
        with measured.row("open and plan"):
            window.open_demo() if arguments.open is None else window.open_file(arguments.open)
            driver.wait(lambda: window.document.shown is not None)
            if not arguments.while_solving:
                driver.wait(driver.at_rest)
        for part in arguments.parts or PARTS:
            measured.drag(arguments.stops) if part == "drag" else getattr(measured, part)()
        window.close()


if __name__ == "__main__":
    main()
