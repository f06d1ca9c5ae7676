"""What is chosen in the window and remembered: strategy, options, clock, mouse, theme, and which panels are open."""

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from xengine_gui import planner
from xengine_gui.model.plan import Clock
from xengine_gui.session import Session
from xengine_gui.ui.settings import save_settings
from xengine_gui.ui.theme import apply_theme, chosen_theme
from xengine_gui.ui.timeline.bar_words import LABEL_TITLES, Labels
from xengine_gui.ui.timeline.marks import MOUSE_TITLES, MouseStyle
from xengine_gui.ui.window_layout import PanelLayout
from xengine_gui.ui.window_place import put_in_place, with_place

if TYPE_CHECKING:
    from xengine_gui.ui.main_window import MainWindow


class WindowChoices(QObject):
    """The choices of one window, from its settings and back to them."""

    def __init__(self, window: "MainWindow") -> None:
        super().__init__(window)
        self._window = window

    def strategy(self, key: str) -> None:
        """Plan with another strategy."""
        planning = self._window.planning
        self._take_strategy(key)
        if planning.plan_on_change or planning.running:
            planning.plan()

    def options(self, **changes: float | None) -> None:
        """Search with other options from the next time on."""
        planning = self._window.planning
        planning.options = replace(planning.options, **changes)  # type: ignore[arg-type]

    def clock(self, clock: Clock) -> None:
        """Show the plan on a clock."""
        window = self._window
        window.clock_view.set_clock(clock)
        window.submenus.show_clock(clock.value)
        window.tools.show_clock(clock.value.capitalize())

    def mouse(self, style: str) -> None:
        """Let wheel and drag be those of a map or of a trace viewer."""
        window = self._window
        window.centre.timeline.set_mouse_style(MouseStyle(style))
        window.submenus.show_mouse(style)
        self._remember(mouse=style)

    def labels(self, labels: str) -> None:
        """Let other words stand in the bars."""
        window = self._window
        window.centre.timeline.set_labels(Labels(labels))
        window.submenus.show_labels(labels)
        self._remember(labels=labels)

    def _remember(self, **changes: object) -> None:
        settings = replace(self._window.settings, **changes)  # type: ignore[arg-type]
        if settings != self._window.settings:
            self._window.settings = settings
            self.keep()

    def theme(self, choice: str) -> None:
        """Wear a theme, now and from now on."""
        self._wear(choice)
        self._window.settings = replace(self._window.settings, theme=choice)
        self.keep()

    def plan_on_change(self) -> None:
        """Plan after every edit, or only when asked."""
        window = self._window
        window.planning.plan_on_change = window.actions_by_key["plan_on_change"].isChecked()

    def take_session(self, session: Session) -> None:
        """Put on what a session says besides its problem and its plan; the theme only until the window closes."""
        window, view = self._window, session.view
        if session.strategy in self._strategies():
            self._take_strategy(session.strategy)
        self.options(gap_ratio=session.gap_ratio, time_limit_s=session.time_limit_s)
        window.submenus.show_options(session.gap_ratio, session.time_limit_s)
        self.clock(view.clock)
        window.panel_layout = PanelLayout(view.centre, view.below, view.folded)
        if view.theme and view.theme != chosen_theme():
            self._wear(view.theme)

    def restore(self) -> None:
        """Put on what the settings remember."""
        window, settings = self._window, self._window.settings
        planning, known = window.planning, self._strategies()
        usual = planning.strategy if planning.strategy in known else known[0]
        self._take_strategy(settings.strategy if settings.strategy in known else usual)
        planning.plan_on_change = settings.plan_on_change
        window.actions_by_key["plan_on_change"].setChecked(settings.plan_on_change)
        window.submenus.show_options(planning.options.gap_ratio, planning.options.time_limit_s)
        window.submenus.show_theme(settings.theme)
        self.clock(window.clock_view.clock)
        self.mouse(settings.mouse if settings.mouse in MOUSE_TITLES else MouseStyle.MAP.value)
        self.labels(settings.labels if settings.labels in LABEL_TITLES else Labels.NAMES.value)
        window.actions_by_key["stack_memory"].setChecked(settings.stack_memory)
        window.centre.timeline.set_stacked(settings.stack_memory)
        window.submenus.show_recent(settings.recent)
        samples = (*planner.sample_networks(), *planner.sample_problems(), *planner.sample_sessions())
        window.submenus.show_samples(samples)
        window.panel_layout = PanelLayout(settings.centre, settings.below, settings.folded)
        put_in_place(window, window.splitters, settings)

    def keep(self) -> None:
        """Write the settings."""
        save_settings(self._window.settings)

    def keep_all(self) -> None:
        """Write the settings with how the window is now."""
        window, panels = self._window, self._window.panel_layout
        window.settings = replace(
            with_place(window.settings, window, window.splitters),
            strategy=window.planning.strategy,
            plan_on_change=window.planning.plan_on_change,
            stack_memory=window.centre.timeline.is_stacked(),
            centre=panels.centre,
            below=panels.below,
            folded=panels.folded,
        )
        self.keep()

    def _strategies(self) -> list[str]:
        return [action.data() for action in self._window.submenus.menus["strategy"].actions()]

    def _take_strategy(self, key: str) -> None:
        self._window.planning.strategy = key
        self._window.tools.show_strategy(self._window.submenus.show_strategy(key))

    def _wear(self, theme: str) -> None:
        app = QApplication.instance()
        if isinstance(app, QApplication):
            apply_theme(app, theme)  # type: ignore[arg-type]
        self._window.submenus.show_theme(theme)
