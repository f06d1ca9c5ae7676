"""The application: from files to an exit status."""

import ctypes
import gc
import importlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import PySide6
from PySide6.QtCore import QLibraryInfo, QObject, QSocketNotifier, QTimer, QTranslator
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from xengine_gui.errors import PlannerError
from xengine_gui.language import LANGUAGE
from xengine_gui.paths import resources
from xengine_gui.ui.garbage import lasting_objects
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.settings import load_settings
from xengine_gui.ui.theme import THEME_CHOICES, apply_theme

_SWITCH_INTERVAL_S = 0.0001
_SHOWN_MS = 200
_GC_THRESHOLDS = (20_000, 5, 1000)


def run_window(files: Sequence[Path], *, demo: bool = False) -> int:
    """Open the window with the first of `files`, or with the bundled network planned at once; the exit status.

    Raises `PlannerError` where there is no display, or Qt cannot use it.
    """
    check_display()
    with lasting_objects():
        app = make_application()
        window = MainWindow()
        interrupts = _Interrupts(app, window)
        window.show()
    QTimer.singleShot(_SHOWN_MS, window, load_ahead)
    if files:
        QTimer.singleShot(0, window, lambda: window.open_file(files[0]))
    elif demo:
        QTimer.singleShot(0, window, window.open_demo)
    try:
        return app.exec()
    finally:
        interrupts.end()


def make_application() -> QApplication:
    """The application, dressed in the look that was chosen last."""
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication(sys.argv[:1])
    # While the planning thread judges a plan, each of the window's many short calls waits this long for its turn.
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    # A graph of 10,000 operators is a million objects that live on, and a look through them stops every thread: looks
    # at what is new are kept short, and those at everything rare.
    gc.set_threshold(*_GC_THRESHOLDS)
    app.setApplicationName("xengine-planner")
    _translate_own_words(app)
    app.setApplicationDisplayName("XEngine planner")
    app.setDesktopFileName("xengine-planner")
    app.setWindowIcon(QIcon(str(resources() / "icons" / "application.svg")))
    chosen = load_settings().theme
    apply_theme(app, next((t for t in THEME_CHOICES if t == chosen), "system"))
    return app


def _translate_own_words(app: QApplication) -> None:
    """Qt's own words, such as those of its buttons, are in the language of the window's."""
    if LANGUAGE and not app.findChild(QTranslator):
        translator = QTranslator(app)
        if translator.load(f"qtbase_{LANGUAGE}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
            app.installTranslator(translator)


def load_ahead() -> None:
    """Load what the first plan wants, beside the window, which it would hold up for a sixth of a second."""
    name = "xengine_gui.ui.panels.progress_plot"
    threading.Thread(target=importlib.import_module, args=(name,), name="loading", daemon=True).start()


def check_display() -> None:
    """Raise a `PlannerError` where Qt would end the process because it finds no display or misses a library."""
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM", "xcb").split(":")[0] not in ("xcb", ""):
        return
    display = os.environ.get("DISPLAY", "")
    if os.environ.get("WAYLAND_DISPLAY"):
        return
    if not display:
        raise PlannerError(
            "there is no display to open the window on; `xengine plan` and `xengine render` do the same job without one"
        )
    if display.startswith(":") and not _answers(display):
        raise PlannerError(f"the display {display} does not answer, so the window cannot be opened")
    plugin = Path(PySide6.__file__).parent / "Qt" / "plugins" / "platforms" / "libqxcb.so"
    if plugin.is_file():
        try:
            ctypes.CDLL(str(plugin))
        except OSError as error:
            raise PlannerError(
                f"the window cannot be opened: {error}; on Debian and Ubuntu, installing libxcb-cursor0, "
                "libxkbcommon-x11-0, libxcb-icccm4 and libxcb-keysyms1 gives all that Qt needs"
            ) from error


def _answers(display: str) -> bool:
    name = f"/tmp/.X11-unix/X{display[1:].partition('.')[0]}"  # noqa: S108 - where every X server listens
    for address in (name, f"\0{name}"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(2.0)
            try:
                probe.connect(address)
            except OSError:
                continue
            return True
    return False


class _Interrupts(QObject):
    """Closes the window on Ctrl-C: Python is only called when Qt is woken, which the signal's byte does."""

    def __init__(self, app: QApplication, window: MainWindow) -> None:
        super().__init__(app)
        self._window = window
        self._reader, self._writer = socket.socketpair()
        for end in (self._reader, self._writer):
            end.setblocking(False)  # noqa: FBT003 - a socket's own signature
        self._old_fd = signal.set_wakeup_fd(self._writer.fileno())
        self._old_handler = signal.signal(signal.SIGINT, lambda *_: None)
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)

    def end(self) -> None:
        """Leave Ctrl-C to whoever had it before."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._old_fd)
        signal.signal(signal.SIGINT, self._old_handler)
        self._reader.close()
        self._writer.close()

    def _woken(self) -> None:
        if signal.SIGINT in self._reader.recv(64):
            self._window.close()
