"""The picture of a plan as a file: by suffix, whole or not at all, the same as in the window."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QImage
from timelines import plan_of

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Compute, Event, Free, Plan, Status, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.ui.picture import facts_of, render_picture
from xengine_gui.ui.theme import load_theme

SVG = "{http://www.w3.org/2000/svg}"
EVENTS: list[Event] = [
    Compute("conv", "gpu", 0, 1),
    Transfer("conv out", "gpu", "host", 1, 1_048_577),
    Compute("conv", "gpu", 1_048_577, 1_048_578, again=True),
    Free("conv out", "gpu", 1_048_578),
    Compute("grad_conv", "gpu", 1_048_578, 1_048_579),
]

pytestmark = pytest.mark.usefixtures("qapp")


@pytest.fixture(name="plan")
def make_plan() -> Plan:
    return plan_of(EVENTS, {"gpu": 2**22, "host": None})


def test_svg_is_valid_and_says_what_the_plan_is(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "plan.svg"
    render_picture(plan, path, width=1200)
    root = ET.fromstring(path.read_bytes())  # noqa: S314 - our own file
    assert root.tag == f"{SVG}svg"
    assert root.attrib["viewBox"].split()[2] == "1200"
    texts = {element.text for element in root.iter(f"{SVG}text")}
    assert {"by hand", "forward", "recompute", "transfer", "free", "gpu", "host", "memory limit"} <= texts
    assert "limit 4.00 MiB" in texts
    fills = {element.attrib.get("fill") for element in root.iter(f"{SVG}g")}
    theme = load_theme("light")
    assert {theme.forward, theme.backward, theme.recompute, theme.transfer, theme.free} <= fills


@pytest.mark.parametrize(("width", "height"), [(400, None), (1600, 700), (4000, None)])
def test_png_has_the_size_asked_for(plan: Plan, tmp_path: Path, width: int, height: int | None) -> None:
    path = tmp_path / "plan.PNG"
    render_picture(plan, path, width=width, height=height, theme="dark")
    image = QImage(str(path))
    assert image.width() == width
    assert image.height() >= (height or 200)
    assert image.pixelColor(1, 1) == QColor(load_theme("dark").window)
    assert any(
        image.pixelColor(x, y) == QColor(load_theme("dark").transfer)
        for x in range(image.width() // 2 - 2, image.width() // 2)
        for y in range(image.height())
    )


def test_pdf_is_one(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "plan.pdf"
    render_picture(plan, path)
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    assert content.rstrip().endswith(b"%%EOF")


@pytest.mark.parametrize("name", ["plan.jpg", "plan"])
def test_other_suffixes_are_refused_with_those_that_can_be(plan: Plan, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"\.svg, \.png, \.pdf"):
        render_picture(plan, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("width", "height"), [(10, None), (10**6, None), (800, 0), (800, 10**6)])
def test_sizes_that_cannot_be_are_refused(plan: Plan, tmp_path: Path, width: int, height: int | None) -> None:
    with pytest.raises(InputError, match="pixels wide"):
        render_picture(plan, tmp_path / "plan.png", width=width, height=height)


def test_an_unknown_theme_is_refused(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="light and dark"):
        render_picture(plan, tmp_path / "plan.png", theme="blue")  # type: ignore[arg-type]


def test_a_plan_without_events_is_refused_with_its_reason(plan: Plan, tmp_path: Path) -> None:
    none = Plan(plan.problem, "x", Status.INFEASIBLE, explanation="gpu is too small for conv")
    with pytest.raises(InputError, match="gpu is too small for conv"):
        render_picture(none, tmp_path / "plan.svg")


def test_what_cannot_be_written_leaves_the_old_file(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder"):
        render_picture(plan, tmp_path / "missing" / "plan.svg")
    old = tmp_path / "old.svg"
    old.mkdir()
    with pytest.raises(InputError):
        render_picture(plan, old)


def test_an_error_while_painting_is_told_and_ends_nothing_else(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from PySide6.QtCore import QSize\n"
        "from xengine_gui.ui.picture import write_drawing\n"
        "class Broken:\n"
        "    title, size = 'x', QSize(400, 400)\n"
        "    def paint(self, painter):\n"
        "        raise ZeroDivisionError('oh')\n"
        "for kind in ('svg', 'png', 'pdf'):\n"
        "    try: write_drawing(Path(sys.argv[1]) / f'x.{kind}', lambda _: Broken())\n"
        "    except ZeroDivisionError as error: kept = error; print(kind, error)\n"
        "raise kept\n"
    )
    here = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=here, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["svg", "oh", "png", "oh", "pdf", "oh"]
    assert done.returncode == 1, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_title_line_is_honest(plan: Plan) -> None:
    facts = facts_of(plan)
    assert facts[:2] == ["strategy by hand", "total 1.05 ms"]
    assert facts[-1] == "verified"
    broken = Plan(plan.problem, "x", Status.FEASIBLE, plan.events[1:], plan.total_ns)
    assert facts_of(broken)[-1].startswith("not valid: ")
    bounded = Plan(plan.problem, "x", Status.OPTIMAL, plan.events, 1_048_579, lower_bound_ns=1_048_579)
    assert "proved optimal" in facts_of(bounded)
    for status, words in ((Status.OPTIMAL, "optimal within 50.00 %"), (Status.FEASIBLE, "at most 50.00 % to gain")):
        half = Plan(plan.problem, "x", status, plan.events, 1_048_580, lower_bound_ns=524_290)
        assert words in facts_of(half)


def test_names_that_no_xml_may_hold_are_escaped(plan: Plan, tmp_path: Path) -> None:
    old = plan.problem
    named = Problem("a\x00b <&> \x1b", old.devices, old.operators, old.tensors, links=old.links)
    render_picture(Plan(named, "\x07", plan.status, plan.events, plan.total_ns), tmp_path / "plan.svg")
    root = ET.fromstring((tmp_path / "plan.svg").read_bytes())  # noqa: S314 - our own file
    assert "a\\x00b <&> \\x1b" in {element.text for element in root.iter(f"{SVG}text")}


def test_it_needs_neither_window_nor_display(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from timelines import plan_of;"
        "from xengine_gui.model.plan import Compute; from xengine_gui.ui.picture import render_picture;"
        "render_picture(plan_of([Compute('a', 'gpu', 0, 1)], {'gpu': None}), Path(sys.argv[1]))"
    )
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    here = Path(__file__).resolve().parents[1]
    environment["PYTHONPATH"] = os.pathsep.join([str(here), str(here.parent)])
    path = tmp_path / "plan.png"
    done = subprocess.run([sys.executable, "-c", code, str(path)], env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert path.stat().st_size > 1000
