"""Where the window is and how its panels share it: remembered, and always reachable."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMainWindow, QSplitter

from xengine_gui.ui.settings import Settings

_SIZE = (1440, 900)
_SMALLEST = (720, 480)


def put_in_place(window: QMainWindow, splitters: Mapping[str, QSplitter], settings: Settings) -> None:
    """Give a window the place that it had, or the middle of the first screen."""
    screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    place = reachable(settings.geometry, screens, _SIZE)
    window.resize(place.size())
    if _knows_places():
        window.move(place.topLeft())  # the frame's corner, so the title bar is on the screen too
    for name, splitter in splitters.items():
        sizes = settings.splitters.get(name, ())
        if len(sizes) == splitter.count() and all(s >= 0 for s in sizes) and sum(sizes) > 0:
            splitter.setSizes(list(sizes))
        elif name == "rows":
            below = _height_below(window.height())
            splitter.setSizes([window.height() - below, below])
    if settings.maximised:
        window.setWindowState(Qt.WindowState.WindowMaximized)


def with_place(settings: Settings, window: QMainWindow, splitters: Mapping[str, QSplitter]) -> Settings:
    """The settings with the place that a window has now."""
    maximised = window.isMaximized()
    corner = window.normalGeometry().topLeft() if maximised else window.pos()
    size = window.normalGeometry().size() if maximised else window.size()
    x, y = corner.toTuple() if _knows_places() or settings.geometry is None else settings.geometry[:2]
    return replace(
        settings,
        geometry=(x, y, size.width(), size.height()),
        maximised=maximised,
        splitters={name: tuple(splitter.sizes()) for name, splitter in splitters.items()},
    )


def reachable(wanted: tuple[int, int, int, int] | None, screens: Iterable[QRect], size: tuple[int, int]) -> QRect:
    """A window rectangle whose title bar is on a screen, as near to the wanted one as that allows.

    `size` is what a window without a wish gets; it is centred on the first screen.
    """
    areas = list(screens) or [QRect(0, 0, 1280, 800)]
    rect = QRect(*wanted) if wanted is not None else QRect(0, 0, *size)
    home = areas[0]
    if wanted is not None:
        home = max(areas, key=lambda area: _area(area.intersected(rect)))
    width = min(max(rect.width(), _SMALLEST[0]), home.width())
    height = min(max(rect.height(), _SMALLEST[1]), home.height())
    if wanted is None:
        return QRect(home.center().x() - width // 2, home.center().y() - height // 2, width, height)
    x = min(max(rect.x(), home.x()), home.right() + 1 - width)
    y = min(max(rect.y(), home.y()), home.bottom() + 1 - height)
    return QRect(x, y, width, height)


def _height_below(height: int) -> int:
    """What the panels below get of a new window: on a small screen the timeline needs the room more."""
    return min(250, max(150, height * 215 // 1000))


def _knows_places() -> bool:
    """Whether windows may know and choose where they are; on Wayland they may not."""
    return not QGuiApplication.platformName().startswith("wayland")


def _area(rect: QRect) -> int:
    return max(0, rect.width()) * max(0, rect.height())
