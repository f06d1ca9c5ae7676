from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from plans_fixed import plan_of_four
from problems_fixed import chain_problem
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from xengine_gui.cli import main
from xengine_gui.errors import InputError
from xengine_gui.model.plan import Plan, Run, Status
from xengine_gui.model.plan_file import write_plan
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.ui.graph_view.picture import render_graph
from xengine_gui.ui.graph_view.structure import structure_of
from xengine_gui.ui.graph_wiring import CentreView
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.picture_size import MOST_PIXELS
from xengine_gui.ui.theme import load_theme

Wait = Callable[[], None]


def texts(path: Path) -> set[str]:
    return {(e.text or "").strip() for e in ET.fromstring(path.read_text("utf-8")).iter() if e.tag.endswith("text")}  # noqa: S314


def test_an_svg_has_every_name_and_the_legend(qapp: QApplication, tmp_path: Path) -> None:
    path = tmp_path / "graph.svg"
    render_graph(plan_of_four(), path)
    assert {"f0", "f1", "f2", "b1", "retained", "freed and recomputed", "four"} <= texts(path)
    assert any("verified" in text for text in texts(path))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_png_has_the_colours_of_its_theme(qapp: QApplication, tmp_path: Path, theme: str) -> None:
    path = tmp_path / "graph.png"
    render_graph(plan_of_four(), path, theme=theme)  # type: ignore[arg-type]
    image = QImage(str(path))
    colours = {image.pixelColor(x, y).name() for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)}
    wanted = load_theme(theme)  # type: ignore[arg-type]
    assert {wanted.forward, wanted.backward, wanted.loss, wanted.recompute, wanted.window} <= colours


def test_a_pdf_is_one_and_a_very_tall_graph_is_made_smaller(qapp: QApplication, tmp_path: Path) -> None:
    problem = chain_problem(length=1500)
    plan = finished_plan(problem, "by hand", [Run(0, o) for o in range(1500)])
    path = tmp_path / "graph.pdf"
    render_graph(plan, path, expanded=frozenset())
    assert path.read_bytes().startswith(b"%PDF")
    tall = tmp_path / "tall.svg"
    render_graph(plan, tall, expanded=frozenset(structure_of(plan.problem).blocks))
    assert int(ET.fromstring(tall.read_text("utf-8")).attrib["viewBox"].split()[3]) <= MOST_PIXELS  # noqa: S314


def test_what_cannot_be_drawn_is_a_sentence(qapp: QApplication, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not \.bmp"):
        render_graph(plan_of_four(), tmp_path / "graph.bmp")
    nothing = Plan(chain_problem(), "none", Status.INFEASIBLE, explanation="it does not fit")
    with pytest.raises(InputError, match="it does not fit"):
        render_graph(nothing, tmp_path / "graph.svg")


def test_the_command_line_draws_it(qapp: QApplication, tmp_path: Path) -> None:
    plan, figure = tmp_path / "plan.json", tmp_path / "graph.svg"
    write_plan(plan_of_four(), plan)
    assert main(["render", str(plan), "-o", str(figure), "--graph"]) == 0
    assert "b1" in texts(figure)


def test_the_window_exports_what_is_looked_at(
    window: MainWindow,
    toy_file: Path,
    plan_awaited: Wait,
    qtbot: QtBot,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    window.open_file(toy_file)
    plan_awaited()
    window.walk.show_view(CentreView.GRAPH)
    qtbot.waitUntil(lambda: window.walk.graph.scene is not None)
    path = tmp_path / "graph.svg"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), "Drawing (*.svg)"))
    window.actions_by_key["export_picture"].trigger()
    qtbot.waitUntil(lambda: path.is_file() and not window.exporting.busy, timeout=20_000)
    assert "forward  ↓" in path.read_text("utf-8")
