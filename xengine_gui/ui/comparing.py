"""Runs comparisons of the problem at hand, and shows the plans that are chosen of them."""

import threading
from collections.abc import Callable

from PySide6.QtCore import QObject

from xengine_gui import planner
from xengine_gui.language import tr
from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.diff import PlanDiff
from xengine_gui.solve.base import SolveOptions
from xengine_gui.solve.compare import ComparedStrategy, Comparison
from xengine_gui.solve.compare_file import comparison_to_csv, comparison_to_json
from xengine_gui.solve.worker import SolverProcess
from xengine_gui.ui.background import Background
from xengine_gui.ui.compare_picture import render_comparison
from xengine_gui.ui.document import Document
from xengine_gui.ui.panels.compare import ComparePanel
from xengine_gui.ui.planning import Planning
from xengine_gui.ui.study import Study
from xengine_gui.ui.theme import current_theme


class Comparing(Study):
    """Between the panel of comparisons and the document."""

    def __init__(
        self,
        document: Document,
        planning: Planning,
        panel: ComparePanel,
        parent: QObject | None = None,
        *,
        process: Callable[[], SolverProcess] = SolverProcess,
    ) -> None:
        super().__init__(document, planning, parent)
        self.make_process = process
        self._panel = panel
        self._differences = Background(self)
        panel.plan_chosen.connect(self._show_plan)
        panel.pair_chosen.connect(self._show_pair)
        self._serve(panel)
        self._show_state()

    def run(self) -> None:
        """Compare the ticked strategies on the problem at hand."""
        work, keys = self._document.work, self._panel.model.chosen
        if work is None or not keys or self.job.running:
            return
        problem = work.problem
        options = SolveOptions(gap_ratio=self._planning.options.gap_ratio, time_limit_s=self._panel.time.time_limit_s)
        self._panel.model.begin(problem)
        self.told.emit(tr("compare {keys} strategies on {name}", keys=len(keys), name=problem.name))
        self.job.start(lambda tell, stop: _compared(self.make_process(), problem, keys, options, tell, stop))

    def close(self) -> None:
        """End everything."""
        super().close()
        self._differences.close()

    # --- what the job tells

    def _hear(self, rows: list[ComparedStrategy]) -> None:
        self._panel.put(list({row.key: row for row in rows}.values()))

    def _finished(self, comparison: Comparison) -> None:
        self._panel.model.put(comparison.rows, comparison.unlimited_total_ns)
        self._panel.model.end()
        best = comparison.best
        if best is not None and best.summary is not None:
            self.told.emit(tr("compared: {title} is the fastest", title=best.title))
        for sentence in comparison.contradictions():
            self.told.emit(tr("a fault: {sentence}", sentence=sentence))

    def _failed(self, sentence: str) -> None:
        self._panel.model.end()
        self.refused.emit(sentence)

    # --- what the user does

    def _show_plan(self, row: ComparedStrategy) -> None:
        if row.plan is not None:
            self._plans.show(row.plan, tr("limits of {title}", title=row.title))

    def _show_pair(self, before: ComparedStrategy | None, after: ComparedStrategy | None) -> None:
        if before is None or after is None or before.plan is None or after.plan is None:
            self._differences.forget()
            return
        plans: tuple[Plan, Plan] = before.plan, after.plan
        names = before.title, after.title

        def done(difference: PlanDiff) -> None:
            self._panel.show_diff(difference, names)

        self._differences.run(lambda: planner.diff(*plans), done, self.refused.emit)

    def _export(self, suffix: str) -> None:
        comparison, theme = self._panel.comparison, current_theme().name
        if comparison is None:
            return
        writers = {".csv": lambda: comparison_to_csv(comparison), ".json": lambda: comparison_to_json(comparison)}
        stem = tr("{name} compared", name=comparison.problem.name or "problem")
        self._write(
            self._panel,
            "comparison",
            stem,
            suffix,
            writers,
            lambda path: render_comparison(comparison, path, theme=theme),
        )

    # --- what happens around

    def _work_changed(self) -> None:
        work, compared = self._document.work, self._panel.model.problem
        if compared is not None and (work is None or work.problem.operators is not compared.operators):
            self.job.abandon()
            self._panel.model.clear()
        self._show_state()

    def _show_state(self) -> None:
        work = self._document.work
        self._panel.show_state(
            running=self.job.running, stopping=self.job.stopping, work=None if work is None else work.problem
        )


def _compared(
    process: SolverProcess,
    problem: Problem,
    keys: tuple[str, ...],
    options: SolveOptions,
    tell: Callable[[object], None],
    stop: threading.Event,
) -> Comparison:
    try:
        return planner.compare(problem, keys, options, process=process, on_row=tell, stop=stop)
    finally:
        process.close()
