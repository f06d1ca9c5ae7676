"""From each stop of a dragged limit to its plan: ResNet-50 in training on a laptop's CPU and GPU.

Times are reported, not asserted; `window_rows.py` tells more of them. What is asserted is that every stop gets a plan
that keeps its limit, and that no larger limit takes longer than a smaller one did.
"""

import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.window_rows import SHARES, Driver, Stop
from pytest_benchmark.fixture import BenchmarkFixture
from pytestqt.qtbot import QtBot

from xengine_gui.ui.main_window import MainWindow


@pytest.fixture
def driver(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    monkeypatch.setattr("xengine_gui.paths.state_folder", lambda: tmp_path / "state")
    monkeypatch.setattr("xengine_gui.paths.config_folder", lambda: tmp_path / "config")
    window = MainWindow()
    qtbot.addWidget(window)
    window.resize(1600, 900)
    window.show()
    window.open_demo()
    driver = Driver(window)
    driver.wait(lambda: window.document.shown is not None)
    yield driver
    window.close()


def test_stops_of_a_drag(driver: Driver, benchmark: BenchmarkFixture) -> None:
    shares = SHARES if benchmark.enabled else (0.8, 0.5, 0.6, 0.9)
    stops: list[Stop] = benchmark.pedantic(lambda: list(driver.drag("gpu", shares)), rounds=1)
    waited = sorted(1000 * stop.waited_s for stop in stops)
    benchmark.extra_info["median, worst in ms"] = round(statistics.median(waited)), round(waited[-1])
    assert len(stops) == len(shares)
    for i, stop in enumerate(stops):
        smaller = [s for s in stops[:i] if s.memory_limit_bytes <= stop.memory_limit_bytes]
        assert all(stop.total_ns <= s.total_ns for s in smaller)
