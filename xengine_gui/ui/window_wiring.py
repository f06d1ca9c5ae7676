"""What is connected with what in the window: actions with what they do, and parts that tell one another."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from xengine_gui.model.plan import Clock
from xengine_gui.ui.dialogs.help import AboutDialog, KeysDialog
from xengine_gui.ui.graph_wiring import graph_slots
from xengine_gui.ui.selection_links import selection_slots
from xengine_gui.ui.text_size import scale_text

if TYPE_CHECKING:
    from xengine_gui.ui.main_window import MainWindow


def window_slots(window: "MainWindow") -> Mapping[str, Callable[[], object]]:
    """What the actions do; the panels are made after the actions."""
    files, shown, choices = window.files, window.shown, window.choices
    return {
        "open": files.ask_for_file,
        "demo": window.open_demo,
        "save_session": files.save_session,
        "save_session_as": files.save_session_as,
        "open_second": lambda: window.loop.ask_for_second(),  # noqa: PLW0108 - made before the panels are
        "save_plan": files.save_plan,
        "export_picture": lambda: window.walk.ask_for_picture(window.exporting),
        "export_memory": lambda: window.exporting.ask_for_picture(memory_alone=True),
        "quit": window.close,
        "plan": window.planning.plan,
        "stop": window.planning.stop,
        "plan_on_change": choices.plan_on_change,
        **selection_slots(
            lambda: window.links,
            lambda: window.centre.timeline,
            lambda: window.actions_by_key["stack_memory"].isChecked(),  # noqa: PLW0108 - made after the slots
        ),
        **graph_slots(lambda: window.walk),
        "show_left": lambda: _toggle(window.left),
        "show_right": lambda: _toggle(window.selection),
        "show_below": lambda: _toggle(window.splitters["below"]),
        "show_compare": lambda: shown.below(window.studies.compare),
        "show_sweep": lambda: shown.below(window.studies.sweep),
        "show_operators": lambda: shown.below(window.links.operators),
        "show_tensors": lambda: shown.below(window.links.tensors),
        "larger_text": lambda: scale_text(1),
        "smaller_text": lambda: scale_text(-1),
        "usual_text": lambda: scale_text(0),
        "sizes": files.ask_for_sizes,
        **window.costing.slots(),
        **window.objectives.slots(),
        "keys": lambda: KeysDialog(window).exec(),
        "about": lambda: AboutDialog(window).exec(),
    }


def connect_window(window: "MainWindow") -> None:
    """Connect the parts of a window, once all are there."""
    _connect_document(window)
    _connect_planning(window)
    _connect_panels(window)
    _connect_menus(window)
    _connect_sessions(window)


def _connect_document(window: "MainWindow") -> None:
    document, files, shown = window.document, window.files, window.shown
    document.work_changed.connect(window.centre.error.hide)
    document.work_changed.connect(shown.work)
    document.plan_changed.connect(shown.plan)
    document.glanced.connect(shown.glance)
    window.clock_view.changed.connect(shown.timeline)
    document.busy_changed.connect(shown.state)
    window.costing.report_changed.connect(window.status.show_report)
    window.status.report.clicked.connect(window.costing.show_report)
    document.refused.connect(window.say_error)
    document.opened.connect(files.opened)
    document.open_failed.connect(files.open_failed)
    document.sizes_wanted.connect(files.ask_for_sizes)
    document.mapping_wanted.connect(files.ask_for_mapping)


def _connect_planning(window: "MainWindow") -> None:
    planning, shown = window.planning, window.shown
    planning.state_changed.connect(shown.state)
    planning.progressed.connect(window.progress.add)
    planning.ticked.connect(window.progress.tick)
    planning.ticked.connect(lambda _elapsed_s: shown.activity())
    planning.logged.connect(window.log.add)
    planning.runner.started.connect(window.progress.begin)
    planning.runner.found.connect(window.progress.add_found)
    planning.looking_changed.connect(lambda: window.progress.show_looked_at(planning.looked_at))
    window.progress.look_asked.connect(planning.look_at)
    window.progress.live_asked.connect(planning.back_to_live)
    window.studies.told.connect(window.log.add)
    window.studies.refused.connect(window.say_error)


def _connect_panels(window: "MainWindow") -> None:
    document, devices = window.document, window.left.devices
    files, shown = window.files, window.shown
    devices.limit_edited.connect(document.set_limit)
    devices.preset_chosen.connect(document.set_preset)
    devices.remove_asked.connect(document.remove_device)
    devices.add_asked.connect(document.add_device)
    window.loop.drag_changed.connect(lambda dragging: shown.dragging(is_dragged=dragging))
    window.links.model.changed.connect(shown.what_if)
    window.loop.serve_tables(window.links.operators.table, window.links.tensors.table)
    window.what_if.told.connect(window.log.add)
    window.loop.refused.connect(window.say_error)
    window.studies.compare.pair_chosen.connect(window.loop.take_pair)
    window.centre.open_asked.connect(files.ask_for_file)
    window.centre.demo_asked.connect(window.open_demo)
    window.tools.batch_edited.connect(
        lambda batch: document.edit_setup(f"batch {batch}", lambda s: replace(s, batch=batch))
    )
    window.summary.tensor_chosen.connect(window.links.model.select_tensor)
    window.summary.table_asked.connect(shown.most_recomputed)


def _connect_sessions(window: "MainWindow") -> None:
    window.exporting.busy_changed.connect(window.shown.activity)
    window.exporting.said.connect(window.centre.error.hide)
    window.sessions.taken.connect(window.choices.take_session)
    window.sessions.taken.connect(window.objectives.take_session)
    window.sessions.state_changed.connect(window.shown.session)
    for one in (window.sessions, window.exporting):
        one.said.connect(window.log.add)
        one.failed.connect(window.say_error)


def _connect_menus(window: "MainWindow") -> None:
    choices = window.choices
    menus, document = window.submenus, window.document
    menus.file_chosen.connect(window.open_file)
    menus.strategy_chosen.connect(choices.strategy)
    menus.strategy_shown.connect(window.objectives.strategy_shown)
    window.objectives.changed.connect(lambda: window.objectives.show_state(window.actions_by_key))
    menus.theme_chosen.connect(choices.theme)
    menus.clock_chosen.connect(lambda key: choices.clock(Clock(key)))
    menus.mouse_chosen.connect(choices.mouse)
    menus.labels_chosen.connect(choices.labels)
    menus.gap_chosen.connect(lambda gap: choices.options(gap_ratio=gap))
    menus.time_chosen.connect(lambda time_s: choices.options(time_limit_s=time_s))
    menus.mode_chosen.connect(
        lambda training, optimizer: document.edit_setup(
            "training" if training else "inference",
            lambda s: replace(s, training=training, optimizer=optimizer),
        )
    )


def _toggle(part: QWidget) -> None:
    part.setVisible(part.isHidden())
