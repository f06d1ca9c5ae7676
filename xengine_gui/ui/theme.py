"""Every colour of the application, in light and dark, and the one style sheet that is made of them.

Widgets choose their look by dynamic properties, never by colours of their own: `card` and `panel` on frames, `role` on
labels (title, heading, section, muted, small, error, warning, success), `primary` and `outlined` on buttons, `invalid`
on line edits, `over` on progress bars. Set them with `set_style_property`.
"""

import json
from dataclasses import dataclass, fields
from functools import lru_cache
from string import Template
from typing import Literal

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.paths import resources
from xengine_gui.schedule.timeline import Category

ThemeName = Literal["light", "dark"]
ThemeChoice = Literal["system", "light", "dark"]
THEME_CHOICES: tuple[ThemeChoice, ...] = ("system", "light", "dark")

CATEGORY_TITLES = {
    Category.FORWARD: tr("forward"),
    Category.BACKWARD: tr("backward"),
    Category.UPDATE: tr("update"),
    Category.LOSS: tr("loss"),
    Category.RECOMPUTE: tr("recompute"),
    Category.TRANSFER: tr("transfer"),
}
"""What legends call the categories."""


@dataclass(frozen=True, slots=True)
class Theme:
    """All colours of one look, as `#rrggbb`; the fields from `forward` to `free` are the events' own."""

    name: ThemeName
    window: str
    surface: str
    card: str
    field: str
    border: str
    border_strong: str
    hover: str
    pressed: str
    grid: str
    lane: str
    text: str
    text_muted: str
    text_disabled: str
    accent: str
    accent_hover: str
    accent_text: str
    selection: str
    selection_text: str
    focus: str
    success: str
    warning: str
    error: str
    forward: str
    backward: str
    loss: str
    update: str
    recompute: str
    recompute_hatch: str
    transfer: str
    free: str
    memory_line: str
    memory_fill: str
    limit: str
    limit_text: str
    over_limit: str
    cursor: str
    cursor_text: str
    highlight: str
    tooltip: str
    tooltip_text: str
    tooltip_border: str
    shadow: str
    plot_incumbent: str
    plot_bound: str
    plot_line: str

    def category(self, category: Category) -> str:
        """The colour of a category's bars; recomputes are hatched with `recompute_hatch` besides."""
        return str(getattr(self, category.name.lower()))

    def text_on(self, background: str) -> str:
        """Black or white, whichever reads better on `background`."""
        return _ink_on(background)


@lru_cache(maxsize=2)
def load_theme(name: ThemeName) -> Theme:
    """The theme called `light` or `dark`, read from the resources."""
    if name not in ("light", "dark"):
        raise InputError("", f"there is no theme {name!r}; the themes are light and dark")
    path = resources() / "themes" / f"{name}.json"
    colours = json.loads(path.read_text(encoding="utf-8"))
    wanted = {field.name for field in fields(Theme)} - {"name"}
    mistakes = [f"the colour {key!r} is missing" for key in sorted(wanted - colours.keys())]
    mistakes += [f"there is no colour {key!r}" for key in sorted(colours.keys() - wanted)]
    mistakes += [f"{key!r} is no colour: {value!r}" for key, value in colours.items() if not QColor(value).isValid()]
    if mistakes:
        raise InputError(path.name, mistakes)
    return Theme(name=name, **colours)


def relative_luminance(colour: str) -> float:
    """The luminance of WCAG 2, from 0 (black) to 1 (white)."""
    parts = (QColor(colour).redF(), QColor(colour).greenF(), QColor(colour).blueF())
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast_ratio(one: str, other: str) -> float:
    """The contrast of WCAG 2, from 1 to 21; text needs 4.5."""
    dark, light = sorted((relative_luminance(one), relative_luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@lru_cache(maxsize=64)
def _ink_on(background: str) -> str:
    return max("#ffffff", "#10161c", key=lambda ink: contrast_ratio(ink, background))


class _ThemeKeeper(QObject):
    """Lives in the application: remembers what was chosen, and follows the system where that is the choice."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self.setObjectName("theme-keeper")
        self.choice: ThemeChoice = "system"
        self.theme = load_theme(_system_theme())
        self._app = app
        app.styleHints().colorSchemeChanged.connect(self._system_changed)

    def apply(self, choice: ThemeChoice) -> None:
        """Put on the chosen look."""
        self.choice = choice
        self._dress(load_theme(_system_theme() if choice == "system" else choice))

    def _system_changed(self) -> None:
        if self.choice == "system" and load_theme(_system_theme()) is not self.theme:
            self._dress(load_theme(_system_theme()))

    def _dress(self, theme: Theme) -> None:
        # Set before the palette: widgets that hear of the change ask `current_theme`.
        self.theme = theme
        self._app.setStyle("Fusion")
        self._app.setPalette(palette_of(theme))
        self._app.setStyleSheet(style_sheet_of(theme, self._app.font()))


def apply_theme(app: QApplication, name: ThemeChoice = "system") -> Theme:
    """Dress the whole application, now and, for `system`, whenever the system's own scheme changes.

    Widgets hear of it by the usual `PaletteChange`; those that paint by themselves then ask `current_theme`.
    """
    if name not in THEME_CHOICES:
        raise InputError("", f"there is no theme {name!r}; the themes are {', '.join(THEME_CHOICES)}")
    keeper = app.findChild(_ThemeKeeper) or _ThemeKeeper(app)
    keeper.apply(name)
    return keeper.theme


def current_theme() -> Theme:
    """The look that the application wears now; light where none was put on."""
    app = QApplication.instance()
    keeper = app.findChild(_ThemeKeeper) if app is not None else None
    return keeper.theme if keeper is not None else load_theme("light")


def chosen_theme() -> ThemeChoice:
    """What was chosen: `system` follows the system's own scheme."""
    app = QApplication.instance()
    keeper = app.findChild(_ThemeKeeper) if app is not None else None
    return keeper.choice if keeper is not None else "system"


def palette_of(theme: Theme) -> QPalette:
    """The theme as a Qt palette."""
    palette = QPalette()
    role = QPalette.ColorRole
    for place, colour in (
        (role.Window, theme.window),
        (role.WindowText, theme.text),
        (role.Base, theme.field),
        (role.AlternateBase, theme.lane),
        (role.Text, theme.text),
        (role.Button, theme.surface),
        (role.ButtonText, theme.text),
        (role.BrightText, theme.error),
        (role.ToolTipBase, theme.tooltip),
        (role.ToolTipText, theme.tooltip_text),
        (role.PlaceholderText, theme.text_muted),
        (role.Highlight, theme.selection),
        (role.HighlightedText, theme.selection_text),
        (role.Accent, theme.accent),
        (role.Link, theme.accent),
        (role.LinkVisited, theme.accent),
        (role.Light, theme.border),
        (role.Midlight, theme.border),
        (role.Mid, theme.border_strong),
        (role.Dark, theme.border_strong),
        (role.Shadow, theme.shadow),
    ):
        palette.setColor(place, QColor(colour))
    for place in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, place, QColor(theme.text_disabled))
    return palette


def style_sheet_of(theme: Theme, font: QFont) -> str:
    """The application's style sheet in the theme's colours, its sizes after the given font."""
    folder = resources() / "themes"
    values = {field.name: getattr(theme, field.name) for field in fields(Theme)}
    size_pt = font.pointSizeF() if font.pointSizeF() > 0 else 0.75 * font.pixelSize()
    values["small_pt"] = f"{0.9 * size_pt:.1f}"
    values["title_pt"] = f"{1.2 * size_pt:.1f}"
    for chevron in ("chevron_down", "chevron_up"):
        values[chevron] = (folder / f"{chevron}.svg").as_posix()
    values["check"] = (folder / f"check_{theme.name}.svg").as_posix()
    return Template((folder / "application.qss").read_text(encoding="utf-8")).substitute(values)


def set_style_property(widget: QWidget, name: str, value: object) -> None:
    """Set a dynamic property that the style sheet knows, and make it seen at once."""
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def _system_theme() -> ThemeName:
    hints = QGuiApplication.styleHints()
    return "dark" if hints.colorScheme() == Qt.ColorScheme.Dark else "light"
