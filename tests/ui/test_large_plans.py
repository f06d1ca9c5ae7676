"""Large plans: what their first look does without comes after it, and short ways give what the long ones give."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from problems_fixed import training_chain
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from xengine_gui import planner
from xengine_gui.model.plan_file import write_plan
from xengine_gui.schedule.summary import summarise
from xengine_gui.schedule.timeline import Timeline
from xengine_gui.solve.base import SolveOptions
from xengine_gui.ui.held import HeldIndex
from xengine_gui.ui.main_window import MainWindow
from xengine_gui.ui.models.memory_model import held_at
from xengine_gui.ui.shown_plan import ShownPlan, UnlimitedTotal

WITHIN_MS = 20_000


@pytest.fixture(scope="module")
def shown() -> ShownPlan:
    problem = planner.open_file(Path(planner.sample_problems()[0]))
    plan = planner.plan(problem, "greedy", SolveOptions(time_limit_s=5.0))  # type: ignore[arg-type]
    return ShownPlan.of(plan)


def test_what_is_held_is_what_the_replay_says(shown: ShownPlan) -> None:
    size = shown.tensor_bytes
    for device in shown.timeline.devices:
        parameters = shown.replay.memory[device.device].parameter_bytes
        for time_ns in {0, shown.timeline.end_ns + 1, *device.memory_ns.tolist()}:
            stays = shown.replay.resident_at(device.device, time_ns)
            held = held_at(shown, device.device, time_ns)
            wanted = [(r.tensor, size[r.tensor], r.end_ns) for r in stays]
            wanted += [("parameters", parameters, None)] if parameters else []
            found = [(row.name, row.size_bytes, row.until_ns) for row in held]
            assert found == sorted(wanted, key=lambda row: (-row[1], row[0]))
            assert held.total_bytes == sum(row[1] for row in wanted)


def test_sizes_beyond_64_bits_are_added_up_exactly(shown: ShownPlan) -> None:
    stays = shown.replay.residencies
    huge = {r.tensor: 2**100 + i for i, r in enumerate(stays)}
    index = HeldIndex(stays, huge, 2**90)
    held = index.at(stays[0].start_ns)
    assert held.total_bytes == sum(row.size_bytes for row in held) > 2**100


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small plans are treated as large ones."""
    for name in [n for n in sys.modules if n.startswith("xengine_gui.ui.")]:
        if hasattr(sys.modules[name], "MANY_EVENTS"):
            monkeypatch.setattr(sys.modules[name], "MANY_EVENTS", 10)


def takes_mouse(window: MainWindow) -> bool:
    return not window.centre.timeline.viewport().testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)


@pytest.mark.usefixtures("few_are_many")
def test_a_large_plan_is_painted_before_it_is_judged_and_not_called_valid(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    plan = planner.plan(training_chain(20), "retain-all")
    write_plan(plan, tmp_path / "plan.json")
    seen: list[tuple[int, bool, bool, bool]] = []
    pictures: list[Timeline] = []

    def look(picture: Timeline | None) -> None:
        if picture is not None:
            pictures.append(picture)
            timeline = window.centre.timeline.timeline()
            assert timeline is picture
            assert timeline is not None
            can_save = window.actions_by_key["save_plan"].isEnabled()
            says_verified = window.status.verdict.isVisibleTo(window)
            seen.append((len(timeline.plan.events), takes_mouse(window), can_save, says_verified))

    window.document.glanced.connect(look)
    window.centre.timeline.setFocus()
    window.open_file(tmp_path / "plan.json")
    qtbot.waitUntil(lambda: window.document.shown is not None, timeout=WITHIN_MS)
    assert seen == [(len(plan.events), False, False, False)]
    assert window.focusWidget() is window.centre.timeline  # not passed on to another panel meanwhile
    shown = window.document.shown
    assert shown is not None
    for glance, device in zip(pictures[0].devices, shown.timeline.devices, strict=True):
        assert glance.compute.start_ns.tolist() == device.compute.start_ns.tolist()
        assert glance.compute.category.tolist() == device.compute.category.tolist()
        assert glance.free_ns.tolist() == device.free_ns.tolist()
        assert (len(glance.memory_ns), glance.limit_bytes) == (0, device.limit_bytes)  # its memory is not known yet
    assert takes_mouse(window)
    assert window.actions_by_key["save_plan"].isEnabled()
    assert window.status.verdict.isVisibleTo(window)


@pytest.mark.usefixtures("few_are_many")
def test_of_a_large_plan_that_breaks_a_rule_nothing_stays(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    plan = planner.plan(training_chain(20), "retain-all")
    write_plan(plan, good)
    write_plan(replace(plan, total_ns=(plan.total_ns or 0) + 1), bad)
    failed: list[str] = []
    glanced: list[object] = []
    window.document.open_failed.connect(lambda _path, sentence: failed.append(sentence))
    window.document.glanced.connect(glanced.append)
    window.open_file(bad)
    qtbot.waitUntil(lambda: len(failed) == 1, timeout=WITHIN_MS)
    assert any(picture is not None for picture in glanced)
    assert window.centre.timeline.timeline() is None
    window.open_file(good)
    qtbot.waitUntil(lambda: window.document.shown is not None, timeout=WITHIN_MS)
    kept = window.centre.timeline.timeline()
    window.open_file(bad)
    qtbot.waitUntil(lambda: len(failed) == 2, timeout=WITHIN_MS)
    assert window.centre.timeline.timeline() is kept
    assert takes_mouse(window)
    assert window.links.model.shown is window.document.shown
    assert window.actions_by_key["save_plan"].isEnabled()


@pytest.mark.usefixtures("few_are_many")
def test_a_large_plan_is_shown_first_and_completed_after(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "plan.json"
    plan = planner.plan(training_chain(20), "retain-all")
    write_plan(plan, path)
    first: list[ShownPlan] = []
    window.document.plan_changed.connect(lambda: first.append(window.document.shown))  # type: ignore[arg-type]
    window.centre.timeline.set_stacked(True)
    window.open_file(path)
    qtbot.waitUntil(lambda: bool(first), timeout=WITHIN_MS)
    assert first[0].summary.makespan_ns is None
    assert window.centre.timeline.timeline() is first[0].timeline
    traces = window.links.traces
    assert traces is not None
    assert traces.stacks_made() == {}
    qtbot.waitUntil(lambda: traces.is_made and first[-1].summary.makespan_ns is not None, timeout=WITHIN_MS)
    total_ns = UnlimitedTotal().of(plan.problem)
    assert first[-1].summary == summarise(first[-1].plan, total_ns, with_makespan=True)
    assert first[-1].timeline is first[0].timeline
    assert set(traces.stacks_made()) == {"gpu"}
    window.centre.timeline.grab()
    frame = window.centre.timeline.frame()
    assert frame is not None
    assert set(frame.stacks) == {"gpu"}
