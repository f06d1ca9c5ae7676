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
    ActionSpec("export_picture", "Export picture…", "Write timeline or graph as SVG, PNG or PDF", ("Ctrl+E",)),
    ActionSpec("export_memory", "Export picture of memory…", "Write the memory of each device as SVG, PNG or PDF"),
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
    ActionSpec("fit_selection", "Fit selection", "Show what is selected, large", ("F",)),
    ActionSpec("zoom_in", "Zoom in", "Show less time, larger", ("+", "=", "W")),
    ActionSpec("zoom_out", "Zoom out", "Show more time, smaller", ("-", "S")),
    ActionSpec("pan_left", "Earlier", "Move the view to earlier times", ("A",)),
    ActionSpec("pan_right", "Later", "Move the view to later times", ("D",)),
    ActionSpec("next_event", "Next event", "Select the next event of the plan", (".",)),
    ActionSpec("previous_event", "Previous event", "Select the event before", (",",)),
    ActionSpec("next_stage", "Next stage", "Select the first computation that ends the next stage", ("]",)),
    ActionSpec("previous_stage", "Previous stage", "Select the one that ends the stage before", ("[",)),
    ActionSpec("select_peak", "Go to the peak", "See what is in memory at a device's peak", ("P",)),
    ActionSpec("clear_selection", "Clear selection", "Select nothing (Esc in the timeline does it too)"),
    ActionSpec("find", "Find…", "Find an operator or a tensor as you type", ("/", "Ctrl+F")),
    ActionSpec("palette", "Command palette…", "Find any command by its name", ("Ctrl+Shift+P",)),
    ActionSpec(
        "stack_memory",
        "Stack memory by tensor",
        "Tell the tensors apart under the memory curves",
        ("M",),
        checkable=True,
    ),
    ActionSpec("larger_text", "Larger text", "Make all text larger, for projectors", ("Ctrl++", "Ctrl+=")),
    ActionSpec("smaller_text", "Smaller text", "Make all text smaller", ("Ctrl+-",)),
    ActionSpec("usual_text", "Usual text size", "As large as the system's", ("Ctrl+0",)),
    ActionSpec("view_timeline", "Timeline", "See when what runs, and the memory", ("Ctrl+1",)),
    ActionSpec("view_graph", "Graph", "See what reads what, and where results wait", ("Ctrl+2",)),
    ActionSpec("view_both", "Timeline and graph", "See the timeline with the graph below it", ("Ctrl+3",)),
    ActionSpec("play", "Play or pause", "Play the plan event by event, also by Space in the timeline and the graph"),
    ActionSpec("show_left", "Devices", "Show the panel on the left", ("F7",), checkable=True),
    ActionSpec("show_right", "Selection", "Show the panel on the right", ("F8",), checkable=True),
    ActionSpec("show_below", "Progress, summary and log", "Show the panels below", ("F9",), checkable=True),
    ActionSpec("show_compare", "Compare strategies", "Plan with several strategies side by side", ("F6",)),
    ActionSpec("show_sweep", "Sweep a limit", "See what more memory would buy", ("Shift+F6",)),
    ActionSpec("show_operators", "Operator table", "Every operator: recomputes, times, bytes", ("F3",)),
    ActionSpec("show_tensors", "Tensor table", "Every tensor: size, stays, transfers", ("F4",)),
    ActionSpec("load_costs", "Load costs…", "Lay measured times of a CSV table over the operators"),
    ActionSpec("drop_costs", "Drop measured costs", "Go back to the times that were there before the measured ones"),
    ActionSpec("measure", "Measure this network on this machine…", "Run each operator on this machine's processor"),
    ActionSpec(
        "implementations",
        "Choose convolution algorithms",
        "Let the plan choose each convolution's algorithm: faster ones take workspace",
        (),
        checkable=True,
    ),
    ActionSpec("objective", "Objective and deadline…", "Plan for the least energy, or for an end by a deadline"),
    ActionSpec("presets", "Device presets…", "Look at the presets of devices, and add your own"),
    ActionSpec("report", "Import report…", "See what was assumed while the file was read"),
    ActionSpec("sizes", "Free dimensions…", "Give the free dimensions of the network other values"),
    ActionSpec("keys", "Keys", "List the keys", ("?", "F1")),
    ActionSpec("about", "About", "Which version this is"),
)

GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "move": (
        "Go",
        (
            "pan_left",
            "pan_right",
            SEPARATOR,
            "next_event",
            "previous_event",
            "next_stage",
            "previous_stage",
            SEPARATOR,
            "select_peak",
            SEPARATOR,
            "play",
        ),
    ),
    "text": ("Text size", ("larger_text", "smaller_text", "usual_text")),
}
"""Sub-menus whose entries are actions of the table: their titles and their entries."""

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
            "export_memory",
            "menu:export",
            SEPARATOR,
            "quit",
        ),
    ),
    (
        "Edit",
        ("undo", "redo", SEPARATOR, "find", "palette", "clear_selection", SEPARATOR, "sizes", "report"),
    ),
    (
        "View",
        (
            "view_timeline",
            "view_graph",
            "view_both",
            SEPARATOR,
            "fit",
            "fit_selection",
            "zoom_in",
            "zoom_out",
            "menu:move",
            SEPARATOR,
            "stack_memory",
            "menu:labels",
            "menu:clock",
            "menu:mouse",
            SEPARATOR,
            "show_operators",
            "show_tensors",
            "show_left",
            "show_right",
            "show_below",
            SEPARATOR,
            "menu:theme",
            "menu:text",
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
            "objective",
            SEPARATOR,
            "show_compare",
            "show_sweep",
        ),
    ),
    (
        "Costs",
        ("load_costs", "drop_costs", "measure", SEPARATOR, "implementations", SEPARATOR, "presets"),
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


def group_menus(parent: QWidget, actions: Mapping[str, QAction]) -> dict[str, QMenu]:
    """The sub-menus that consist of actions of the table."""
    menus = {}
    for key, (title, entries) in GROUPS.items():
        menus[key] = menu = QMenu(title, parent)
        menu.setToolTipsVisible(True)
        for entry in entries:
            if entry == SEPARATOR:
                menu.addSeparator()
            else:
                menu.addAction(actions[entry])
    return menus


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
