"""Drawings of sweeps and comparisons: points are where they are drawn, nothing is lost, odd names do no harm."""

import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from problems_fixed import training_chain
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QPainter

from xengine_gui.errors import InputError
from xengine_gui.model.plan import Status
from xengine_gui.schedule.summary import summarise
from xengine_gui.solve.base import SolveContext
from xengine_gui.solve.compare import ComparedStrategy, Comparison, RowState
from xengine_gui.solve.greedy.strategy import Greedy
from xengine_gui.solve.sweep_points import Axis, Sweep, SweepCurve, SweepPoint
from xengine_gui.ui.compare_picture import bar_parts, render_comparison
from xengine_gui.ui.picture import picture_fonts
from xengine_gui.ui.series import series_style
from xengine_gui.ui.sweep_drawing import SweepHit
from xengine_gui.ui.sweep_picture import drawing_of, facts_of, render_sweep
from xengine_gui.ui.theme import contrast_ratio, load_theme

pytestmark = pytest.mark.usefixtures("qapp")
MIB = 2**20
AREA = QRectF(0, 0, 700, 260)
THEMES = (load_theme("light"), load_theme("dark"))


def curve(name: str, totals: list[int | None], limits: list[tuple[int, ...]], bound: int | None = None) -> SweepCurve:
    points = tuple(
        SweepPoint(k, Status.INFEASIBLE if t is None else Status.FEASIBLE, t, None if t is None else bound)
        for k, t in zip(limits, totals, strict=True)
    )
    return SweepCurve(name, name, points)


def one_device(*totals: list[int | None]) -> Sweep:
    limits = tuple((i + 1) * MIB for i in range(len(totals[0])))
    curves = tuple(curve(f"strategy {i}", t, [(k,) for k in limits], 90) for i, t in enumerate(totals))
    return Sweep("problem", (Axis("gpu", limits),), curves)


def two_devices(totals: list[int | None]) -> Sweep:
    axes = Axis("gpu", (MIB, 2 * MIB)), Axis("cpu", (MIB, 2 * MIB, 3 * MIB))
    empty = Sweep("problem", axes, ())
    return Sweep("problem", axes, (curve("greedy", totals, list(empty.limits)),))


SWEEPS = (
    one_device([None, 300, 200, 150, 120]),
    one_device([None, 300, 200, 150, 120], [None, None, 9000, 160, 130]),
    two_devices([None, None, 300, None, 200, 100]),
)


def painted(sweep: Sweep, **more) -> QImage:
    image = QImage(700, 260, QImage.Format.Format_RGB32)
    image.fill(0xFFFFFF)
    painter = QPainter(image)
    drawing_of(sweep, AREA, THEMES[0], picture_fonts(), **more).paint(painter)
    painter.end()
    return image


@pytest.mark.parametrize("sweep", SWEEPS, ids=["curve", "curves", "map"])
def test_a_point_is_found_where_it_is_drawn(sweep: Sweep) -> None:
    drawing = drawing_of(sweep, AREA, THEMES[0], picture_fonts())
    planned = [p for p in sweep.best() if p.total_ns is not None]
    for point in planned:
        found = next(
            drawing.hit(drawing.place(hit)) for hit in hits(sweep) if hit.point.limits_bytes == point.limits_bytes
        )
        assert found is not None
        assert found.point.total_ns == point.total_ns
        assert AREA.contains(drawing.place(found))
    assert drawing.hit(QPointF(-50, -50)) is None


def hits(sweep: Sweep) -> list:
    best = {p.limits_bytes: p for p in sweep.best()}
    return [
        SweepHit(c.strategy, c.title, p)
        for c in sweep.curves
        for p in c.points
        if p.total_ns is not None and p.total_ns == best[p.limits_bytes].total_ns
    ]


@pytest.mark.parametrize("sweep", SWEEPS, ids=["curve", "curves", "map"])
def test_what_is_pointed_at_and_the_limits_of_now_are_seen(sweep: Sweep) -> None:
    plain = painted(sweep)
    assert painted(sweep) == plain
    assert painted(sweep, pointed=hits(sweep)[-1]) != plain
    limits = tuple(axis.limits_bytes[-1] for axis in sweep.axes)
    assert painted(sweep, current=limits) != plain


def test_one_that_takes_many_times_as_long_flattens_nothing() -> None:
    alone, beside = (drawing_of(sweep, AREA, THEMES[0], picture_fonts()) for sweep in SWEEPS[:2])
    heights = []
    for drawing, sweep in ((alone, SWEEPS[0]), (beside, SWEEPS[1])):
        ys = [drawing.place(hit).y() for hit in hits(sweep) if hit.strategy == "strategy 0"]
        heights.append(max(ys) - min(ys))
    assert heights[1] == pytest.approx(heights[0], rel=0.05)
    slow = next(p for p in SWEEPS[1].curves[1].points if p.total_ns == 9000)
    place = beside.place(SweepHit("strategy 1", "strategy 1", slow))
    assert AREA.contains(place)  # it is at the top, not outside
    assert beside.hit(place).point.total_ns == 9000


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
@pytest.mark.parametrize("sweep", SWEEPS, ids=["curve", "curves", "map"])
def test_a_sweep_is_a_picture_file(sweep: Sweep, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"sweep{suffix}"
    render_sweep(sweep, path, theme="dark")
    assert path.read_bytes().startswith({".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[suffix])
    if suffix == ".svg":
        words = " ".join(ET.parse(path).getroot().itertext())  # noqa: S314 - written just now
        assert facts_of(sweep)[:30] in words
        assert "knee" in words or len(sweep.axes) > 1


def test_a_sweep_without_a_plan_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        render_sweep(one_device([None, None]), tmp_path / "sweep.svg")
    with pytest.raises(InputError, match="nothing to draw"):
        render_comparison(Comparison(training_chain(), ()), tmp_path / "comparison.svg")


def test_a_single_limit_and_equal_totals_can_be_drawn(tmp_path: Path) -> None:
    for sweep in (one_device([100]), one_device([100, 100, 100]), two_devices([7] * 6)):
        render_sweep(sweep, tmp_path / "sweep.png")


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_two_dozen_curves_can_be_told_apart(theme) -> None:
    styles = [series_style(theme, i) for i in range(24)]
    assert len({(s.colour, s.shape) for s in styles[:12]}) == 12
    assert all(a != b for a, b in pairwise(styles))
    assert all(contrast_ratio(s.colour, theme.surface) >= 2.9 for s in styles)
    assert theme.plot_bound not in {s.colour for s in styles}


def row(key: str, title: str) -> ComparedStrategy:
    problem = training_chain(6, 400)
    plan = Greedy().plan(problem, SolveContext())
    return ComparedStrategy(key, title, RowState.DONE, plan, summarise(plan, 120), took_s=0.5)


def test_a_comparison_with_many_rows_and_odd_names_is_a_picture(tmp_path: Path) -> None:
    rows = [row(f"s{i}", f"Strategy {i} with a long name \u2028 <b>&amp;") for i in range(14)]
    rows.append(ComparedStrategy("no", "No", RowState.DECLINED, reason="It declines, " * 40))
    comparison = Comparison(training_chain(6, 400), tuple(rows), 120)
    render_comparison(comparison, tmp_path / "comparison.svg")
    words = " ".join(ET.parse(tmp_path / "comparison.svg").getroot().itertext())  # noqa: S314
    assert "Strategy 13" in words
    assert "declined: It declines" in words
    render_comparison(comparison, tmp_path / "comparison.png", theme="dark")
    assert QImage(str(tmp_path / "comparison.png")).width() >= 1080


def test_the_parts_of_a_bar_add_up_to_the_total() -> None:
    figures = row("greedy", "Greedy").summary
    assert sum(bar_parts(figures)) == figures.total_ns
    assert bar_parts(figures)[0] == 120
