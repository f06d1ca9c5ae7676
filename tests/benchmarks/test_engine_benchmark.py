"""How fast the engine is, side by side in one run: a proof costs a known multiple of the first plan."""

import importlib
import time

import pytest
from transformer_graphs import transformer

from xengine_gui.solve.base import SolveContext, SolveOptions
from xengine_gui.solve.greedy import greedy_steps
from xengine_gui.solve.watchpoints.points import Segmentation, WatchPoint
from xengine_gui.solve.watchpoints.relaxation import Relaxation
from xengine_gui.solve.watchpoints.strategy import Optimal
from xengine_gui.solve.watchpoints.tables import Tables


@pytest.mark.parametrize("effort", [0, 1])
def test_first_plan(benchmark, effort):
    problem = transformer(24, 0.4)
    benchmark.group = "plan of 771 operators with host memory"
    steps = benchmark.pedantic(greedy_steps, (problem.indexed, lambda: False), {"effort": effort}, rounds=3)
    assert steps is not None


def test_proved_plan(benchmark):
    importlib.import_module("xengine_gui.solve.watchpoints.search")
    problem = transformer(24, 0.4)
    benchmark.group = "plan of 771 operators with host memory"
    plan = benchmark.pedantic(
        lambda: Optimal().plan(problem, SolveContext(SolveOptions(gap_ratio=0.001, time_limit_s=60.0))), rounds=3
    )
    assert plan.gap_ratio <= 0.001 + 1e-8


def test_building_the_model_takes_time_in_proportion_to_its_size(benchmark):
    small, large = (Tables.of(transformer(layers, 0.4).indexed) for layers in (12, 96))

    def build(tables: Tables) -> float:
        count = tables.problem.operator_count
        points = (WatchPoint(count // 3, count // 3), WatchPoint(count // 2, count // 2))
        began = time.perf_counter()
        Relaxation.of(tables, Segmentation(count, points))
        return time.perf_counter() - began

    benchmark.pedantic(build, (large,), rounds=3)
    # Eight times the operators: far from the 64 times of anything quadratic, whatever the machine is doing.
    assert min(build(large) for _ in range(5)) < 30 * max(min(build(small) for _ in range(5)), 1e-4)
