"""The menus whose entries depend on what there is: recent files, samples, strategies, modes, looks."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from xengine_gui.language import tr
from xengine_gui.model.problem import Problem
from xengine_gui.solve.strategies import STRATEGIES
from xengine_gui.training import OPTIMIZERS
from xengine_gui.ui.actions import check_choice, choice_menu
from xengine_gui.ui.clock_view import CLOCKS
from xengine_gui.ui.timeline.bar_words import LABEL_TITLES
from xengine_gui.ui.timeline.marks import MOUSE_TITLES

GAPS = {"0": tr("Prove the optimum (0 %)"), "0.001": "0.1 %", "0.005": "0.5 %", "0.01": "1 %", "0.05": "5 %"}
TIMES = {"10": tr("10 s"), "60": tr("1 min"), "600": tr("10 min"), "": tr("No limit")}
_INFERENCE = "inference"
_THEME_TITLES = {"system": tr("System"), "light": tr("Light"), "dark": tr("Dark")}
_OPTIMIZER_TITLES = {"none": tr("no optimizer"), "sgd": "SGD", "momentum": tr("SGD with momentum"), "adam": "Adam"}


class SubMenus(QObject):
    """Each menu once; what is chosen in it is told by a signal, what holds is marked by a `show_` method."""

    file_chosen = Signal(object)
    strategy_chosen = Signal(str)
    mode_chosen = Signal(bool, str)
    """Whether it is training, and the optimizer."""
    gap_chosen = Signal(float)
    time_chosen = Signal(object)
    theme_chosen = Signal(str)
    clock_chosen = Signal(str)
    mouse_chosen = Signal(str)
    labels_chosen = Signal(str)
    strategy_shown = Signal()
    """Another strategy holds."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.menus: dict[str, QMenu] = {}
        self._groups: dict[str, QActionGroup] = {}
        self.menus["recent"] = QMenu(tr("Open recent"), window)
        self.menus["samples"] = QMenu(tr("Open sample"), window)
        self._choices("strategy", tr("Strategy"), {s.key: s.title for s in STRATEGIES}, self.strategy_chosen.emit)
        self._problem: Problem | None = None
        self._show_supported()
        # Looked at only when somebody wants to choose: all strategies together take a tenth of a second.
        self.menus["strategy"].aboutToShow.connect(self._show_supported)
        modes = {key: tr("Training, {key}", key=_OPTIMIZER_TITLES.get(key, key)) for key in OPTIMIZERS}
        self._choices("mode", tr("Mode"), {**modes, _INFERENCE: tr("Inference")}, self._mode_chosen)
        self._choices("gap", tr("Stop at a gap of"), GAPS, lambda key: self.gap_chosen.emit(float(key)))
        self._choices("time", tr("Time limit"), TIMES, lambda key: self.time_chosen.emit(float(key) if key else None))
        self._choices("clock", tr("Clock"), CLOCKS, self.clock_chosen.emit)
        self._choices("mouse", tr("Mouse"), MOUSE_TITLES, self.mouse_chosen.emit)
        self._choices("labels", tr("Words in bars"), LABEL_TITLES, self.labels_chosen.emit)
        self._choices("theme", tr("Theme"), _THEME_TITLES, self.theme_chosen.emit)

    def show_recent(self, files: Sequence[str]) -> None:
        """List the recent files."""
        self._fill("recent", [Path(f) for f in files], lambda path: f"{path.name}  ·  {path.parent}")

    def show_samples(self, files: Iterable[Path]) -> None:
        """List the sample networks."""
        self._fill("samples", list(files), lambda path: path.stem.replace("_", " "))

    def show_problem(self, problem: Problem | None) -> None:
        """Remember the problem at hand: strategies that cannot plan it are greyed out, with the reason."""
        self._problem = problem

    def show_strategy(self, key: str) -> str:
        """Mark the strategy that holds; its title is returned."""
        check_choice(self._groups["strategy"], key)
        self.strategy_shown.emit()
        return next((s.title for s in STRATEGIES if s.key == key), key)

    def show_mode(self, *, training: bool, optimizer: str) -> str:
        """Mark the mode that holds; its short title is returned."""
        check_choice(self._groups["mode"], optimizer if training else _INFERENCE)
        return (
            tr("Training, {optimizer}", optimizer=_OPTIMIZER_TITLES.get(optimizer, optimizer))
            if training
            else tr("Inference")
        )

    def show_options(self, gap_ratio: float, time_limit_s: float | None) -> None:
        """Mark the gap and the time limit that hold."""
        check_choice(self._groups["gap"], f"{gap_ratio:g}")
        check_choice(self._groups["time"], "" if time_limit_s is None else f"{time_limit_s:g}")

    def show_clock(self, key: str) -> None:
        """Mark the clock that holds."""
        check_choice(self._groups["clock"], key)

    def show_mouse(self, style: str) -> None:
        """Mark what wheel and drag do."""
        check_choice(self._groups["mouse"], style)

    def show_labels(self, labels: str) -> None:
        """Mark what stands in the bars."""
        check_choice(self._groups["labels"], labels)

    def show_theme(self, choice: str) -> None:
        """Mark the look that holds."""
        check_choice(self._groups["theme"], choice)

    def _show_supported(self) -> None:
        for action, strategy in zip(self._groups["strategy"].actions(), STRATEGIES, strict=True):
            why_not = "" if self._problem is None else strategy.supports(self._problem)
            action.setEnabled(not why_not)
            action.setToolTip(
                tr("Cannot plan this: {why_not}.\n{summary}", why_not=why_not, summary=strategy.summary)
                if why_not
                else strategy.summary
            )

    def _choices(self, name: str, title: str, choices: dict[str, str], chosen: Callable[[str], object]) -> None:
        self.menus[name], self._groups[name] = choice_menu(title, self._window, choices, chosen)

    @property
    def _window(self) -> QWidget:
        window = self.parent()
        assert isinstance(window, QWidget)  # noqa: S101 - the constructor takes nothing else
        return window

    def _mode_chosen(self, key: str) -> None:
        self.mode_chosen.emit(key != _INFERENCE, "sgd" if key == _INFERENCE else key)

    def _fill(self, name: str, paths: list[Path], text: Callable[[Path], str]) -> None:
        menu = self.menus[name]
        menu.clear()
        for path in paths:
            action = menu.addAction(text(path).replace("&", "&&"))
            action.setToolTip(str(path))
            action.triggered.connect(lambda _checked=False, path=path: self.file_chosen.emit(path))
        menu.setEnabled(bool(paths))
