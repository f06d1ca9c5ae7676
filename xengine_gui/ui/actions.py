"""Every action of the window in one table: the menus, the toolbar, the keys and the help are made from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from PySide6.QtGui import QAction, QActionGroup, QIcon, QKeySequence, QPixmap
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from xengine_gui.language import tr
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
    ActionSpec("open", tr("Open…"), tr("Open a network, a problem or a plan"), ("Ctrl+O",)),
    ActionSpec("demo", tr("Open demo"), tr("Plan the training of ResNet-50 on a laptop that is too small for it")),
    ActionSpec("open_second", tr("Open second plan…"), tr("Compare the plan that is shown with one from a file")),
    ActionSpec(
        "save_session", tr("Save session"), tr("Keep network, devices, limits, view and plan in a file"), ("Ctrl+S",)
    ),
    ActionSpec("save_session_as", tr("Save session as…"), tr("Write the session to another file"), ("Ctrl+Shift+S",)),
    ActionSpec("save_plan", tr("Save plan…"), tr("Write the plan with its problem to a file")),
    ActionSpec("export_picture", tr("Export picture…"), tr("Write timeline or graph as SVG, PNG or PDF"), ("Ctrl+E",)),
    ActionSpec(
        "export_memory", tr("Export picture of memory…"), tr("Write the memory of each device as SVG, PNG or PDF")
    ),
    ActionSpec("quit", tr("Quit"), tr("Close the window"), ("Ctrl+Q",)),
    ActionSpec("plan", tr("Plan"), tr("Look for a plan"), ("F5",)),
    ActionSpec("stop", tr("Stop"), tr("End the search and keep the best plan so far"), ("Shift+F5", "Ctrl+.")),
    ActionSpec(
        "plan_on_change",
        tr("Plan after every change"),
        tr("Plan by itself whenever something is opened or edited"),
        (),
        checkable=True,
    ),
    ActionSpec("fit", tr("Fit"), tr("Show the whole plan"), ("0",)),
    ActionSpec("fit_selection", tr("Fit selection"), tr("Show what is selected, large"), ("F",)),
    ActionSpec("zoom_in", tr("Zoom in"), tr("Show less time, larger"), ("+", "=", "W")),
    ActionSpec("zoom_out", tr("Zoom out"), tr("Show more time, smaller"), ("-", "S")),
    ActionSpec("pan_left", tr("Earlier"), tr("Move the view to earlier times"), ("A",)),
    ActionSpec("pan_right", tr("Later"), tr("Move the view to later times"), ("D",)),
    ActionSpec("next_event", tr("Next event"), tr("Select the next event of the plan"), (".",)),
    ActionSpec("previous_event", tr("Previous event"), tr("Select the event before"), (",",)),
    ActionSpec("next_stage", tr("Next stage"), tr("Select the first computation that ends the next stage"), ("]",)),
    ActionSpec("previous_stage", tr("Previous stage"), tr("Select the one that ends the stage before"), ("[",)),
    ActionSpec("select_peak", tr("Go to the peak"), tr("See what is in memory at a device's peak"), ("P",)),
    ActionSpec("clear_selection", tr("Clear selection"), tr("Select nothing (Esc in the timeline does it too)")),
    ActionSpec("find", tr("Find…"), tr("Find an operator or a tensor as you type"), ("/", "Ctrl+F")),
    ActionSpec("palette", tr("Command palette…"), tr("Find any command by its name"), ("Ctrl+Shift+P",)),
    ActionSpec(
        "stack_memory",
        tr("Stack memory by tensor"),
        tr("Tell the tensors apart under the memory curves"),
        ("M",),
        checkable=True,
    ),
    ActionSpec("larger_text", tr("Larger text"), tr("Make all text larger, for projectors"), ("Ctrl++", "Ctrl+=")),
    ActionSpec("smaller_text", tr("Smaller text"), tr("Make all text smaller"), ("Ctrl+-",)),
    ActionSpec("usual_text", tr("Usual text size"), tr("As large as the system's"), ("Ctrl+0",)),
    ActionSpec("view_timeline", tr("Timeline"), tr("See when what runs, and the memory"), ("Ctrl+1",)),
    ActionSpec("view_graph", tr("Graph"), tr("See what reads what, and where results wait"), ("Ctrl+2",)),
    ActionSpec("view_both", tr("Timeline and graph"), tr("See the timeline with the graph below it"), ("Ctrl+3",)),
    ActionSpec(
        "play", tr("Play or pause"), tr("Play the plan event by event, also by Space in the timeline and the graph")
    ),
    ActionSpec("show_left", tr("Devices"), tr("Show the panel on the left"), ("F7",), checkable=True),
    ActionSpec("show_right", tr("Selection"), tr("Show the panel on the right"), ("F8",), checkable=True),
    ActionSpec("show_below", tr("Progress, summary and log"), tr("Show the panels below"), ("F9",), checkable=True),
    ActionSpec("show_compare", tr("Compare strategies"), tr("Plan with several strategies side by side"), ("F6",)),
    ActionSpec("show_sweep", tr("Sweep a limit"), tr("See what more memory would buy"), ("Shift+F6",)),
    ActionSpec("show_operators", tr("Operator table"), tr("Every operator: recomputes, times, bytes"), ("F3",)),
    ActionSpec("show_tensors", tr("Tensor table"), tr("Every tensor: size, stays, transfers"), ("F4",)),
    ActionSpec("load_costs", tr("Load costs…"), tr("Lay measured times of a CSV table over the operators")),
    ActionSpec(
        "drop_costs", tr("Drop measured costs"), tr("Go back to the times that were there before the measured ones")
    ),
    ActionSpec(
        "measure", tr("Measure this network on this machine…"), tr("Run each operator on this machine's processor")
    ),
    ActionSpec(
        "implementations",
        tr("Choose convolution algorithms"),
        tr("Let the plan choose each convolution's algorithm: faster ones take workspace"),
        (),
        checkable=True,
    ),
    ActionSpec(
        "objective", tr("Objective and deadline…"), tr("Plan for the least energy, or for an end by a deadline")
    ),
    ActionSpec("presets", tr("Device presets…"), tr("Look at the presets of devices, and add your own")),
    ActionSpec("report", tr("Import report…"), tr("See what was assumed while the file was read")),
    ActionSpec("sizes", tr("Free dimensions…"), tr("Give the free dimensions of the network other values")),
    ActionSpec("keys", tr("Keys"), tr("List the keys"), ("?", "F1")),
    ActionSpec("about", tr("About"), tr("Which version this is")),
)

GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "move": (
        tr("Go"),
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
    "text": (tr("Text size"), ("larger_text", "smaller_text", "usual_text")),
}
"""Sub-menus whose entries are actions of the table: their titles and their entries."""

MENUS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        tr("File"),
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
        tr("Edit"),
        ("undo", "redo", SEPARATOR, "find", "palette", "clear_selection", SEPARATOR, "sizes", "report"),
    ),
    (
        tr("View"),
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
        tr("Plan"),
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
        tr("Costs"),
        ("load_costs", "drop_costs", "measure", SEPARATOR, "implementations", SEPARATOR, "presets"),
    ),
    (tr("Help"), ("keys", "about")),
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
