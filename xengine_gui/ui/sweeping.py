"""Runs sweeps of the problem at hand, draws them as they come, and shows the plans that are chosen of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

from PySide6.QtCore import QObject

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.model.plan import Status
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import SolveOptions, Strategy
from xengine_gui.solve.sweep_file import sweep_to_csv, sweep_to_json
from xengine_gui.solve.sweep_points import Axis, Limits, Sweep, SweepCurve, SweepPoint, usual_range
from xengine_gui.solve.sweep_pool import core_count
from xengine_gui.ui.background import Background
from xengine_gui.ui.document import Document
from xengine_gui.ui.panels.sweep import SweepPanel
from xengine_gui.ui.panels.sweep_form import AskedAxis
from xengine_gui.ui.planning import Planning
from xengine_gui.ui.study import Study
from xengine_gui.ui.sweep_drawing import SweepHit
from xengine_gui.ui.sweep_picture import render_sweep
from xengine_gui.ui.theme import current_theme
from xengine_gui.units import format_size

_QUICKLY_RANGED = 2000
"""Up to so many operators the usual limits are found at once."""


@dataclass
class _Running:
    """A sweep as far as it has come."""

    problem: Problem
    axes: tuple[Axis, ...]
    strategies: tuple[Strategy, ...]
    points: dict[tuple[str, Limits], SweepPoint] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many points there will be."""
        return len(self.strategies) * len(self._empty.limits)

    @property
    def _empty(self) -> Sweep:
        return Sweep(self.problem.name, self.axes, ())

    def sweep(self) -> Sweep:
        """What is known; the rest is not planned yet."""
        limits = self._empty.limits
        curves = (
            SweepCurve(s.key, s.title, tuple(self.points.get((s.key, k)) or _unknown(k) for k in limits))
            for s in self.strategies
        )
        return Sweep(self.problem.name, self.axes, tuple(curves))


class Sweeping(Study):
    """Between the panel of sweeps and the document."""

    def __init__(
        self,
        document: Document,
        planning: Planning,
        panel: SweepPanel,
        strategies: Sequence[Strategy],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(document, planning, parent)
        # One core is left to the window and to what is planned in it.
        self.workers = max(1, core_count() - 1)
        self._strategies = {s.key: s for s in strategies}
        self._panel = panel
        self._ranges = Background(self)
        self._usual: Mapping[str, tuple[int, int]] = {}
        self._graph: object = None
        self._running: _Running | None = None
        self._sweep: Sweep | None = None
        self._trouble = ""
        self._is_asked = False
        panel.form.edited.connect(self._form_edited)
        panel.view.chosen.connect(self._show_plan)
        self._serve(panel)
        self._work_changed()

    def run(self) -> None:
        """Sweep what the form says."""
        work = self._document.work
        if work is None or self.job.running:
            return
        problem, keys = work.problem, self._panel.form.chosen
        self._is_asked = self._ranges.busy and len(problem.operators) > _QUICKLY_RANGED
        if self._is_asked:
            return  # as soon as the usual ranges are there
        try:
            axes = tuple(map(self._axis, repeat(problem), self._panel.form.axes()))
        except InputError as error:
            self._trouble = f"{str(error)[:1].upper()}{str(error)[1:]}."
            self._show_state()
            return
        self._trouble = ""
        options = SolveOptions(gap_ratio=self._planning.options.gap_ratio, time_limit_s=self._panel.time.time_limit_s)
        self._running = _Running(problem, axes, tuple(self._strategies[key] for key in keys))
        self._sweep = None
        devices = " and ".join(axis.device for axis in axes)
        self.told.emit(
            tr(
                "sweep {count} limits of {devices} on {name}",
                count=self._running.count,
                devices=devices,
                name=problem.name,
            )
        )
        self.job.start(
            lambda tell, stop: planner.sweep(
                problem, axes, keys, options,
                workers=self.workers, on_result=lambda key, point: tell((key, point)), stop=stop,
            )
        )  # fmt: skip
        self._draw()

    def _axis(self, problem: Problem, form: AskedAxis) -> Axis:
        """The limits of a device that the form says; what it leaves open is usually known already."""
        low, high = self._usual.get(form.device, (None, None))
        low = low if form.low_bytes is None else form.low_bytes
        high = high if form.high_bytes is None else form.high_bytes
        if form.high_bytes is None and low is not None and high is not None:
            high = max(low, high)
        return planner.sweep_axis(problem, form.device, low, high, form.count)

    def close(self) -> None:
        """End everything."""
        super().close()
        self._ranges.close()

    # --- what the job tells

    def _hear(self, news: list[tuple[str, SweepPoint]]) -> None:
        if self._running is not None:
            for key, point in news:
                self._running.points[key, point.limits_bytes] = point
            self._draw()
            self._show_state()

    def _finished(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self.told.emit(tr("the sweep is done"))
        self._draw()

    def _failed(self, sentence: str) -> None:
        self._trouble = sentence
        if self._running is not None:
            self._sweep = self._running.sweep()
        self._draw()

    # --- what the user does

    def _show_plan(self, hit: SweepHit) -> None:
        if hit.point.plan is not None:
            self._plans.show(
                hit.point.plan, tr("limit of {limit_bytes}", limit_bytes=format_size(hit.point.limit_bytes))
            )

    def _export(self, suffix: str) -> None:
        sweep, theme = self._sweep, current_theme().name
        if sweep is None:
            return
        writers = {".csv": lambda: sweep_to_csv(sweep), ".json": lambda: sweep_to_json(sweep)}
        stem = tr("{name} swept", name=sweep.name or "problem")
        self._write(self._panel, "sweep", stem, suffix, writers, lambda path: render_sweep(sweep, path, theme=theme))

    def _form_edited(self) -> None:
        self._panel.form.show_usual(self._usual)
        self._show_state()

    # --- what happens around

    def _work_changed(self) -> None:
        work = self._document.work
        problem = None if work is None else work.problem
        swept = None if self._running is None else self._running.problem
        if swept is not None and (problem is None or problem.operators is not swept.operators):
            self.job.abandon()
            self._running = self._sweep = None
        if problem is not None and self._graph is not problem.operators:
            self._graph = problem.operators
            tightest = min(problem.devices, key=lambda d: (d.memory_limit_bytes is None, d.memory_limit_bytes or 0))
            self._panel.form.show_devices([d.name for d in problem.devices], tightest.name)
            self._find_ranges(problem)
        self._draw()
        self._show_state()

    def _find_ranges(self, problem: Problem) -> None:
        def done(ranges: Mapping[str, tuple[int, int]]) -> None:
            self._usual = ranges
            self._panel.form.show_usual(ranges)
            go_on()

        def go_on() -> None:
            if self._is_asked:
                self.run()

        self._is_asked = False
        self._usual = {}
        names = [d.name for d in problem.devices]
        self._ranges.run(lambda: {name: usual_range(problem, name) for name in names}, done, lambda _sentence: go_on())

    def _draw(self) -> None:
        running = self._running
        sweep = self._sweep or (None if running is None else running.sweep())
        self._panel.show_sweep(sweep, has_work=self._document.work is not None)
        work = self._document.work
        if sweep is None or work is None:
            self._panel.view.show_current(None)
            return
        limits = tuple(work.problem.device(axis.device).memory_limit_bytes for axis in sweep.axes)
        known = tuple(limit for limit in limits if limit is not None)
        self._panel.view.show_current(known if len(known) == len(limits) else None)

    def _show_state(self) -> None:
        running, work = self._running, self._document.work
        self._panel.show_state(
            running=self.job.running,
            stopping=self.job.stopping,
            possible=work is not None and bool(self._panel.form.chosen),
            done=0 if running is None else len(running.points),
            count=0 if running is None else running.count,
            stale=self._is_stale(),
            trouble=self._trouble,
        )

    def _is_stale(self) -> bool:
        """Whether a limit that was not swept is another one by now."""
        running, work = self._running, self._document.work
        if running is None or work is None:
            return False
        swept = {axis.device for axis in running.axes}
        before = {d.name: d.memory_limit_bytes for d in running.problem.devices if d.name not in swept}
        return before != {d.name: d.memory_limit_bytes for d in work.problem.devices if d.name not in swept}


def _unknown(limits: Limits) -> SweepPoint:
    return SweepPoint(limits, Status.UNKNOWN, is_final=False)
