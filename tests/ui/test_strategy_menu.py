"""The menu of strategies: what cannot plan the problem at hand is greyed out, with the reason."""

import importlib.util

import pytest
from problems_fixed import chain_problem
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from xengine_gui.solve.moccasin import strategy as moccasin
from xengine_gui.ui.menus import SubMenus


def actions_for(window: QWidget, *, with_problem: bool = True) -> dict[str, QAction]:
    menus = SubMenus(window)
    menus.show_problem(chain_problem() if with_problem else None)
    menu = menus.menus["strategy"]
    menu.aboutToShow.emit()
    return {action.data(): action for action in menu.actions()}


def test_without_ortools_moccasin_is_grey_and_says_what_to_install(qtbot, monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(moccasin, "find_spec", lambda name: None if name == "ortools" else there(name))
    window = QWidget()
    qtbot.addWidget(window)
    actions = actions_for(window)
    assert not actions["moccasin"].isEnabled()
    assert "Cannot plan this: OR-Tools is not installed; pip install" in actions["moccasin"].toolTip()
    assert actions["optimal"].isEnabled()


def test_what_can_plan_the_problem_can_be_chosen(qtbot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    assert actions_for(window)["moccasin"].isEnabled()
    assert all(action.isEnabled() for action in actions_for(window, with_problem=False).values())
