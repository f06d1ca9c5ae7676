"""Larger and smaller text in the whole application, for projectors and for tired eyes."""

from PySide6.QtWidgets import QApplication

from xengine_gui.ui.theme import apply_theme, chosen_theme

_STEP = 1.15
_LEAST, _MOST = 0.7, 3.0
_PROPERTY = "text-size-usual"


def scale_text(steps: int) -> None:
    """Make text larger (positive steps) or smaller; 0 brings the usual size back."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        return
    font = app.font()
    usual = app.property(_PROPERTY) or font.pointSizeF()
    app.setProperty(_PROPERTY, usual)
    factor = font.pointSizeF() / usual * _STEP**steps if steps else 1.0
    font.setPointSizeF(usual * min(max(factor, _LEAST), _MOST))
    app.setFont(font)
    apply_theme(app, chosen_theme())
