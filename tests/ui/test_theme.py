"""Both themes can be read by everyone: contrast, colour-blind eyes, grey print; and the application wears them."""

from collections.abc import Iterator
from itertools import combinations

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from xengine_gui.errors import InputError
from xengine_gui.schedule.timeline import Category
from xengine_gui.ui.theme import (
    THEME_CHOICES,
    Theme,
    apply_theme,
    chosen_theme,
    contrast_ratio,
    current_theme,
    load_theme,
    relative_luminance,
    set_style_property,
    style_sheet_of,
)

THEMES = (load_theme("light"), load_theme("dark"))
both = pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)

# Machado, Oliveira, Fernandes 2009, severity 1.0, applied to linear light.
DEFICIENCIES = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


@pytest.fixture
def app(qapp: QApplication) -> Iterator[QApplication]:
    yield qapp
    apply_theme(qapp, "light")


def linear(colour: str) -> list[float]:
    parts = QColor(colour).getRgbF()[:3]
    return [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]


def lab(light: list[float]) -> tuple[float, float, float]:
    """CIE L*a*b* of linear light."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    values = [
        sum(a * max(0.0, b) for a, b in zip(row, light, strict=True)) / w for row, w in zip(rows, white, strict=True)
    ]
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in values]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def seen_by(colour: str, deficiency: str) -> tuple[float, float, float]:
    light = linear(colour)
    return lab([sum(a * b for a, b in zip(row, light, strict=True)) for row in DEFICIENCIES[deficiency]])


def distance(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast_ratio("#000000", "#ffffff") == pytest.approx(21)
    assert contrast_ratio("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert relative_luminance("#ff0000") == pytest.approx(0.2126)


@both
@pytest.mark.parametrize("ink", ["text", "text_muted", "success", "warning", "error", "accent"])
@pytest.mark.parametrize("ground", ["window", "surface", "card", "field", "hover"])
def test_text_reads_on_every_ground(theme: Theme, ink: str, ground: str) -> None:
    assert contrast_ratio(getattr(theme, ink), getattr(theme, ground)) >= 4.5


@both
@pytest.mark.parametrize(
    ("ink", "ground"),
    [
        ("accent_text", "accent"),
        ("accent_text", "accent_hover"),
        ("selection_text", "selection"),
        ("limit_text", "limit"),
        ("cursor_text", "cursor"),
        ("tooltip_text", "tooltip"),
        ("text_muted", "tooltip"),
        ("text", "memory_fill"),
        ("text", "pressed"),
    ],
)
def test_text_reads_on_its_own_ground(theme: Theme, ink: str, ground: str) -> None:
    assert contrast_ratio(getattr(theme, ink), getattr(theme, ground)) >= 4.5


@both
def test_names_read_on_every_bar(theme: Theme) -> None:
    for category in Category:
        colour = theme.category(category)
        assert contrast_ratio(theme.text_on(colour), colour) >= 4.5
    assert contrast_ratio(theme.text_on(theme.error), theme.error) >= 4.5
    assert contrast_ratio(theme.text_on(theme.limit), theme.limit) >= 4.5


@both
def test_focus_and_lines_are_seen(theme: Theme) -> None:
    for colour in (theme.focus, theme.limit, theme.highlight, theme.memory_line, theme.free, theme.transfer):
        assert contrast_ratio(colour, theme.card) >= 2.9


@both
@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_the_colours_of_a_lane_stay_apart_for_colour_blind_eyes(theme: Theme, deficiency: str) -> None:
    for one, other in combinations([c for c in Category if c is not Category.TRANSFER], 2):
        apart = distance(seen_by(theme.category(one), deficiency), seen_by(theme.category(other), deficiency))
        assert apart >= 15, (one.name, other.name, apart)


@both
def test_what_is_told_by_colour_alone_stays_apart_in_grey(theme: Theme) -> None:
    """Recomputes are hatched and frees are triangles; forward and backward are told by colour alone."""
    greys = [lab([relative_luminance(theme.category(c))] * 3)[0] for c in (Category.FORWARD, Category.BACKWARD)]
    assert abs(greys[0] - greys[1]) >= 15
    assert contrast_ratio(theme.recompute, theme.recompute_hatch) >= 2
    for colour in (theme.forward, theme.backward):
        assert abs(relative_luminance(theme.recompute) - relative_luminance(colour)) >= 0.08


def test_themes_differ_and_hold_only_colours() -> None:
    light, dark = THEMES
    assert (light.name, dark.name) == ("light", "dark")
    assert relative_luminance(light.window) > 0.8
    assert relative_luminance(dark.window) < 0.1


@both
def test_the_style_sheet_is_whole(theme: Theme, app: QApplication) -> None:
    sheet = style_sheet_of(theme, app.font())
    assert "$" not in sheet.split("*/", 1)[1]
    assert theme.accent in sheet


@pytest.mark.parametrize("name", ["light", "dark"])
def test_applying_a_theme_dresses_the_application(app: QApplication, name: str) -> None:
    theme = apply_theme(app, name)  # type: ignore[arg-type]
    assert current_theme() is theme
    assert chosen_theme() == name
    assert app.palette().color(QPalette.ColorRole.Window).name() == theme.window
    assert app.palette().color(QPalette.ColorRole.Text).name() == theme.text


def test_system_is_light_where_the_system_does_not_say(app: QApplication) -> None:
    assert apply_theme(app).name in ("light", "dark")
    assert chosen_theme() == "system"
    assert "system" in THEME_CHOICES


def test_an_unknown_theme_is_refused(app: QApplication) -> None:
    with pytest.raises(InputError, match="system, light, dark"):
        apply_theme(app, "blue")  # type: ignore[arg-type]


def test_widgets_hear_of_a_change(app: QApplication, qtbot: QtBot) -> None:
    heard: list[str] = []

    class Listener(QWidget):
        def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
            if event.type() == QEvent.Type.PaletteChange:
                heard.append(current_theme().name)

    widget = Listener()
    qtbot.addWidget(widget)
    apply_theme(app, "dark")
    app.processEvents()
    assert heard
    assert heard[-1] == "dark"


def test_style_properties_are_seen_at_once(app: QApplication, qtbot: QtBot) -> None:
    theme = apply_theme(app, "light")
    label, field = QLabel("x"), QLineEdit()
    for widget in (label, field):
        qtbot.addWidget(widget)
        widget.show()
    set_style_property(label, "role", "error")
    assert label.palette().color(QPalette.ColorRole.WindowText).name() == theme.error
    set_style_property(field, "invalid", value=True)
    assert field.grab().toImage().pixelColor(field.width() // 2, 0).name() == theme.error
