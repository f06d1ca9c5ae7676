"""Every text of the window is asked of the catalogue: one that marks what it is asked leaves no text unmarked."""

import ast
import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from string import Formatter

import xengine_gui
from xengine_gui import planner
from xengine_gui.cost import LINK_PRESETS
from xengine_gui.cost.presets import device_presets
from xengine_gui.language import tr
from xengine_gui.schedule.export import EXPORTERS
from xengine_gui.solve.strategies import STRATEGIES

PACKAGE = Path(xengine_gui.__file__).parent

# In a process of its own, since texts of tables are translated when their modules are imported.
MARKED_WINDOW = r"""
import gettext, json
class Marked(gettext.NullTranslations):
    def gettext(self, message):
        return "\u27e6" + message + "\u27e7"
gettext.translation = lambda *given, **named: Marked()
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QTabBar, QWidget
from xengine_gui.ui.application import make_application
from xengine_gui.ui.main_window import MainWindow
app = make_application()
window = MainWindow()
texts = set()
for action in window.findChildren(QAction):
    texts |= {action.text(), action.toolTip()}
for widget in window.findChildren(QWidget):
    texts |= {widget.accessibleName(), widget.toolTip()}
    if isinstance(widget, QLabel | QAbstractButton):
        texts.add(widget.text())
    if isinstance(widget, QLineEdit):
        texts.add(widget.placeholderText())
    if isinstance(widget, QTabBar):
        texts |= {widget.tabText(i) for i in range(widget.count())}
    if isinstance(widget, QComboBox):
        texts |= {widget.itemText(i) for i in range(widget.count())}
window.close()
print(json.dumps(sorted(texts)))
"""
QT_OWN = ("Undo", "Redo", "Scroll Left", "Scroll Right")


def own_words() -> set[str]:
    """What is named by data and by the engine, which the command line tells in the same words."""
    words = {"XEngine planner", *QT_OWN}
    for strategy in STRATEGIES:
        words |= {strategy.title, strategy.summary}
    for one in EXPORTERS:
        words |= {f"{one.title}…", one.summary[:1].upper() + one.summary[1:]}
    return words


def test_every_text_of_a_new_window_is_asked_of_the_catalogue(tmp_path: Path) -> None:
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen",
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path),
        "PYTHONPATH": str(PACKAGE.parent),
    }
    done = subprocess.run(
        [sys.executable, "-c", MARKED_WINDOW], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    texts = json.loads(done.stdout.splitlines()[-1])
    known = own_words() | {path.stem.replace("_", " ") for path in _samples()} | {str(path) for path in _samples()}
    names = [preset.title for preset in (*device_presets(), *LINK_PRESETS)]
    bare = [t for t in texts if "\u27e6" not in t and re.search(r"[A-Za-z]{3}", t) and t not in known]
    bare = [
        t
        for t in bare
        if "FLOP/s" not in t and not t.startswith(tuple(names)) and not any(p.source in t for p in device_presets())
    ]
    assert len(texts) > 300
    assert bare == ["0 operators", "0 tensors", "cpu", "cpu \u21c4 gpu", "gpu", "latency: 10,000 ns"]


def _samples() -> list[Path]:
    return [*planner.sample_networks(), *planner.sample_problems(), *planner.sample_sessions()]


def test_what_is_asked_of_the_catalogue_can_be_found_in_the_source() -> None:
    asked = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tr":
                text = node.args[0]
                assert isinstance(text, ast.Constant), (path.name, node.lineno)
                given = {keyword.arg for keyword in node.keywords}
                assert {name for _, name, _, _ in Formatter().parse(str(text.value)) if name} == given, text.value
                asked += 1
    assert asked > 600


def test_a_text_is_filled_in() -> None:
    assert tr("limit of {device}", device="gpu") == "limit of gpu"
    assert tr("{braces} stay where nothing is filled in") == "{braces} stay where nothing is filled in"


def test_a_catalogue_of_the_environments_language_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "locale" / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "xengine.mo").write_bytes(
        _catalogue(
            {"": "Language: de\nContent-Type: text/plain; charset=UTF-8\n", "limit of {device}": "Grenze von {device}"}
        )
    )
    program = "import xengine_gui.paths as p, pathlib, sys; p.resources = lambda: pathlib.Path(sys.argv[1])\n"
    program += "from xengine_gui.language import LANGUAGE, tr; print(LANGUAGE, tr('limit of {device}', device='gpu'))"
    environment = os.environ | {"LANGUAGE": "de", "LC_ALL": "de_DE.UTF-8", "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split(maxsplit=1) == ["de", "Grenze von gpu\n"]


def _catalogue(texts: dict[str, str]) -> bytes:
    """A catalogue as GNU gettext's manual describes it, its texts sorted, without a table of hashes."""
    pairs = sorted((key.encode(), value.encode()) for key, value in texts.items())
    count, at = len(pairs), 28 + 16 * len(pairs)
    tables = [b"", b""]
    body = b""
    for side in (0, 1):
        for pair in pairs:
            tables[side] += struct.pack("<II", len(pair[side]), at + len(body))
            body += pair[side] + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, count, 28, 28 + 8 * count, 0, at) + tables[0] + tables[1] + body
