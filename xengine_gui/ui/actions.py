"""Every action of the window in one table: the menus, the toolbar, the keys and the help are made from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction, QActionGroup, QIcon, QKeySequence, QPixmap
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from xengine_gui.paths import resources

SEPARATOR = "-"


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """An action: its text, its keys, and what it does in a sentence."""

    key: str
    text: str
    tip: str
    shortcuts: tuple[str, ...] = ()
    checkable: bool = False


ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("open", "Open…", "Open a network, a problem or a plan", ("Ctrl+O",)),
    ActionSpec("demo", "Open demo", "Plan the training of ResNet-50 on a laptop that is too small for it"),
    ActionSpec("open_second", "Open second plan…", "Compare the plan that is shown with one from a file"),
    ActionSpec("save_session", "Save session", "Keep network, devices, limits, view and plan in a file", ("Ctrl+S",)),
    ActionSpec("save_session_as", "Save session as…", "Write the session to another file", ("Ctrl+Shift+S",)),
    ActionSpec("save_plan", "Save plan…", "Write the plan with its problem to a file"),
    ActionSpec("export_picture", "Export picture…", "Write the timeline as SVG, PNG or PDF", ("Ctrl+E",)),
    ActionSpec("quit", "Quit", "Close the window", ("Ctrl+Q",)),
    ActionSpec("plan", "Plan", "Look for a plan", ("F5",)),
    ActionSpec("stop", "Stop", "End the search and keep the best plan so far", ("Shift+F5", "Ctrl+.")),
    ActionSpec(
        "plan_on_change",
        "Plan after every change",
        "Plan by itself whenever something is opened or edited",
        (),
        checkable=True,
    ),
    ActionSpec("fit", "Fit", "Show the whole plan", ("0",)),
    ActionSpec("zoom_in", "Zoom in", "Show less time, larger", ("+", "=")),
    ActionSpec("zoom_out", "Zoom out", "Show more time, smaller", ("-",)),
    ActionSpec("show_left", "Devices", "Show the panel on the left", ("F7",), checkable=True),
    ActionSpec("show_right", "Selection", "Show the panel on the right", ("F8",), checkable=True),
    ActionSpec("show_below", "Progress, summary and log", "Show the panels below", ("F9",), checkable=True),
    ActionSpec("show_compare", "Compare strategies", "Plan with several strategies side by side", ("F6",)),
    ActionSpec("show_sweep", "Sweep a limit", "See what more memory would buy", ("Shift+F6",)),
    ActionSpec("sizes", "Free dimensions…", "Give the free dimensions of the network other values"),
    ActionSpec("keys", "Keys", "List the keys", ("F1",)),
    ActionSpec("about", "About", "Which version this is"),
)

MENUS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "File",
        (
            "open",
            "menu:recent",
            "menu:samples",
            "demo",
            "open_second",
            SEPARATOR,
            "save_session",
            "save_session_as",
            SEPARATOR,
            "save_plan",
            "export_picture",
            "menu:export",
            SEPARATOR,
            "quit",
        ),
    ),
    ("Edit", ("undo", "redo", SEPARATOR, "sizes")),
    (
        "View",
        (
            "fit",
            "zoom_in",
            "zoom_out",
            SEPARATOR,
            "show_left",
            "show_right",
            "show_below",
            SEPARATOR,
            "menu:clock",
            "menu:theme",
        ),
    ),
    (
        "Plan",
        (
            "plan",
            "stop",
            "plan_on_change",
            SEPARATOR,
            "menu:strategy",
            "menu:gap",
            "menu:time",
            SEPARATOR,
            "show_compare",
            "show_sweep",
        ),
    ),
    ("Help", ("keys", "about")),
)
"""The menus: keys of actions, separators, and sub-menus whose entries depend on what there is."""


def build_actions(window: QWidget, slots: Mapping[str, Callable[[], object]]) -> dict[str, QAction]:
    """The actions of the table, each connected to its slot and known to the window by its keys."""
    actions = {}
    for spec in ACTIONS:
        action = QAction(spec.text, window, checkable=spec.checkable)
        action.setObjectName(spec.key)
        action.setShortcuts([QKeySequence(s) for s in spec.shortcuts])
        action.setToolTip(_with_keys(spec))
        action.setStatusTip("")
        action.triggered.connect(lambda _checked=False, slot=slots[spec.key]: slot())
        window.addAction(action)
        actions[spec.key] = action
    return actions


def fill_menu_bar(bar: QMenuBar, actions: Mapping[str, QAction], submenus: Mapping[str, QMenu]) -> None:
    """Put the table's menus into a menu bar."""
    for title, entries in MENUS:
        menu = bar.addMenu(title)
        menu.setToolTipsVisible(True)
        for entry in entries:
            if entry == SEPARATOR:
                menu.addSeparator()
            elif entry.startswith("menu:"):
                menu.addMenu(submenus[entry.removeprefix("menu:")])
            else:
                menu.addAction(actions[entry])


def choice_menu(
    title: str, parent: QWidget, choices: Mapping[str, str], chosen: Callable[[str], object]
) -> tuple[QMenu, QActionGroup]:
    """A menu of which one entry holds: keys with their titles."""
    menu = QMenu(title, parent)
    menu.setToolTipsVisible(True)
    group = QActionGroup(menu)
    for key, text in choices.items():
        action = menu.addAction(text)
        action.setCheckable(True)
        action.setData(key)
        group.addAction(action)
    group.triggered.connect(lambda action: chosen(action.data()))
    return menu, group


def check_choice(group: QActionGroup, key: str) -> None:
    """Mark the entry that holds, without choosing it."""
    for action in group.actions():
        if action.data() == key:
            action.setChecked(True)


def icon(name: str, colour: str, disabled_colour: str) -> QIcon:
    """An icon of the resources folder in the given colours."""
    drawing = (resources() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    result = QIcon()
    for ink, mode in ((colour, QIcon.Mode.Normal), (disabled_colour, QIcon.Mode.Disabled)):
        picture = QPixmap()
        picture.loadFromData(drawing.replace("currentColor", ink).encode(), "svg")
        result.addPixmap(picture, mode)
    return result


def _with_keys(spec: ActionSpec) -> str:
    return f"{spec.tip} ({spec.shortcuts[0]})" if spec.shortcuts else spec.tip
