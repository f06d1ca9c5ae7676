"""What goes out of the window: plans, pictures, and the export menu's files of other tools, written beside it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from xengine_gui import planner
from xengine_gui.language import tr
from xengine_gui.model.plan import Plan
from xengine_gui.model.plan_file import write_plan
from xengine_gui.schedule.export import EXPORTERS, Exporter, ExportOptions, export_remarks, write_export
from xengine_gui.ui.background import Background
from xengine_gui.ui.file_actions import ask_for_picture_file, ask_for_plan_file, file_stem
from xengine_gui.ui.graph_view.picture import render_graph
from xengine_gui.ui.picture import picture_svg, render_picture
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.theme import ThemeName, current_theme
from xengine_gui.units import format_size

_TOLD_ABOVE_BYTES = 2**20
_THEMES: tuple[ThemeName, ...] = ("light", "dark")
Choice = tuple[str, ExportOptions]
"""A suffix and options that a file filter stands for."""


class Exporting(QObject):
    """Asks for a file and writes it, one at a time; what was done or not is told in a sentence."""

    said = Signal(str)
    failed = Signal(str)
    busy_changed = Signal(bool)

    def __init__(self, window: QWidget, plan: Callable[[], tuple[ShownPlan, Path] | None]) -> None:
        super().__init__(window)
        self._window, self._plan = window, plan
        self._background = Background(self)
        self._background.busy_changed.connect(self.busy_changed)
        self.menu = QMenu(tr("Export"), window)
        self.menu.setToolTipsVisible(True)
        self.actions: dict[str, QAction] = {}
        for one in EXPORTERS:
            action = self.menu.addAction(f"{one.title}…")
            action.setObjectName(f"export_{one.key}")
            action.setToolTip(f"{one.summary[0].upper()}{one.summary[1:]}")
            action.triggered.connect(lambda _checked=False, one=one: self.ask(one))
            self.actions[one.key] = action

    @property
    def busy(self) -> bool:
        """Whether a file is being written."""
        return self._background.busy

    def show_enabled(self, *, enabled: bool) -> None:
        """There is a plan, or there is none."""
        self.menu.setEnabled(enabled)

    def ask(self, one: Exporter) -> None:
        """Ask where, and write the plan that is shown."""
        found = self._plan()
        if found is None:
            return
        shown, folder = found
        size_bytes = one.bytes_per_event * len(shown.plan.events)
        about = (
            tr(" (about {size_bytes})", size_bytes=format_size(size_bytes)) if size_bytes > _TOLD_ABOVE_BYTES else ""
        )
        choices = choices_of(one)
        proposal = folder / f"{file_stem(shown)}{one.suffixes[0]}"
        name, chosen = QFileDialog.getSaveFileName(
            self._window, tr("Export: {title}{about}", title=one.title, about=about), str(proposal), ";;".join(choices)
        )
        if not name:
            return
        suffix, options = choices.get(chosen, next(iter(choices.values())))
        self.write(shown, one, _named(Path(name), suffix), options)

    def write(self, shown: ShownPlan, one: Exporter, path: Path, options: ExportOptions) -> None:
        """Write a plan beside the window."""

        def job() -> None:
            write_export(shown.plan, path, one, _with_pictures(shown.plan, options) if one.key == "report" else options)

        self._run(job, path, one.title, export_remarks(shown.plan, one))

    def ask_for_picture(self, *, memory_alone: bool = False) -> None:
        """Ask where, and draw the plan that is shown, or its memory alone, in the theme that is worn."""
        found = self._plan()
        path = None if found is None else ask_for_picture_file(self._window, *found)
        if found is not None and path is not None:
            plan, theme = found[0].plan, current_theme().name
            self._run(lambda: render_picture(plan, path, theme=theme, memory_alone=memory_alone), path, tr("Picture"))

    def ask_for_graph(self, expanded: frozenset[str]) -> None:
        """Ask where, and draw the graph of the plan that is shown with these blocks open."""
        found = self._plan()
        path = None if found is None else ask_for_picture_file(self._window, *found)
        if found is not None and path is not None:
            plan, theme = found[0].plan, current_theme().name
            self._run(lambda: render_graph(plan, path, expanded=expanded, theme=theme), path, tr("Graph"))

    def ask_for_plan_file(self, shown: ShownPlan, folder: Path) -> None:
        """Ask where, and write the plan with its problem."""
        path = ask_for_plan_file(self._window, shown, folder)
        if path is not None:
            self._run(lambda: write_plan(shown.plan, path), path, tr("Plan"))

    def _run(self, write: Callable[[], None], path: Path, what: str, remarks: tuple[str, ...] = ()) -> None:
        if self.busy:
            self.failed.emit(tr("The last file is still being written; try again in a moment."))
            return

        def job() -> int:
            write()
            return path.stat().st_size

        def done(size_bytes: int) -> None:
            self.said.emit(". ".join((f"{what}: {path} ({format_size(size_bytes)})", *remarks)))

        self._background.run(job, done, self.failed.emit)

    def close(self) -> None:
        """Wait a little for what is being written."""
        self._background.close()


def choices_of(one: Exporter) -> dict[str, Choice]:
    """The file filters of an exporter, each with the suffix and the options that it means."""
    plain = ExportOptions()
    suffix = next(s for s in one.suffixes if not s.endswith(".gz"))
    short = f"*.{suffix.rpartition('.')[2]}"
    choices: dict[str, Choice] = {f"{one.title} ({short})": (suffix, plain)}
    if suffix.endswith(".csv"):
        semicolons = replace(plain, separator=";")
        choices[f"{one.title}, with semicolons ({short})"] = suffix, semicolons
        choices[f"{one.title} for Excel, with semicolons ({short})"] = suffix, replace(semicolons, byte_order_mark=True)
    packed = next((s for s in one.suffixes if s.endswith(".gz")), None)
    if packed is not None:
        choices[f"{one.title}, packed ({short}.gz)"] = packed, plain
    return choices


def _named(path: Path, suffix: str) -> Path:
    """The path with the end that a filter wants, as much of it as is missing."""
    name, (inner, outer) = path.name.lower(), suffix.rsplit(".", 1)
    if name.endswith(f".{outer}"):
        return path
    inner_end = f".{inner.rpartition('.')[2]}" if "." in inner else ""
    return path.with_name(f"{path.name}.{outer}" if inner_end and name.endswith(inner_end) else f"{path.name}{suffix}")


def _with_pictures(plan: Plan, options: ExportOptions) -> ExportOptions:
    pictures: dict[str, str] = {name: picture_svg(plan, theme=name) for name in _THEMES}
    return replace(options, pictures=pictures, unlimited_total_ns=planner.unlimited_total_ns(plan.problem))
