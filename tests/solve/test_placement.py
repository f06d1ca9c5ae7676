"""Placements with unlimited memory against all placements there are."""

from itertools import product

import pytest
from hypothesis import given, settings
from problems import problems

from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.greedy import scripts
from xengine_gui.solve.greedy.actions import finished_steps, kept_devices
from xengine_gui.solve.greedy.scripts import script_of
from xengine_gui.solve.greedy.tables import Tables
from xengine_gui.solve.placement import single_device_placements, tolled_placement, unlimited_placement


def placement_ns(indexed, device):
    """Run times and, once per tensor and device that reads it elsewhere, the direct transfer; `None` if impossible."""
    total = 0
    for operator, place in enumerate(device):
        rows = indexed.implementations[operator][place]
        if not rows:
            return None
        total += min(row.time_ns for row in rows)
    for tensor, readers in enumerate(indexed.consumers):
        source = device[indexed.producer[tensor]]
        for place in {device[o] for o in readers} - {source}:
            copy_ns = indexed.copy_ns(source, place, tensor)
            if copy_ns is None:
                return None
            total += copy_ns
    return total


def best_ns(indexed):
    totals = [placement_ns(indexed, d) for d in product(range(indexed.device_count), repeat=indexed.operator_count)]
    return min((t for t in totals if t is not None), default=None)


@given(problem=problems(max_operators=6, max_devices=2, limits=False))
@settings(deadline=None)
def test_two_devices_are_placed_as_well_as_can_be(problem):
    indexed = problem.indexed
    best = best_ns(indexed)
    placement = unlimited_placement(indexed)
    assert len(placement.device) == indexed.operator_count
    if best is not None:
        assert placement.exact
        assert placement.total_ns == best == placement_ns(indexed, placement.device)


@given(problem=problems(max_operators=5, max_devices=3, limits=False, connected=True))
@settings(deadline=None)
def test_three_devices_are_never_worse_than_one(problem):
    indexed = problem.indexed
    placement = unlimited_placement(indexed)
    assert placement.total_ns <= min((p.total_ns for p in single_device_placements(indexed)), default=0)
    replayed_at_most = placement_ns(indexed, placement.device)
    assert placement.total_ns <= replayed_at_most
    if placement.exact:
        assert placement.total_ns <= best_ns(indexed)


@given(problem=problems(max_operators=6, max_devices=3, limits=False))
@settings(deadline=None)
def test_a_placement_tells_where_and_how_each_operator_can_run(problem):
    indexed = problem.indexed
    placement = unlimited_placement(indexed)
    for operator, (device, way) in enumerate(zip(placement.device, placement.implementation, strict=True)):
        rows = indexed.implementations[operator][device]
        assert rows[way].time_ns == min(row.time_ns for row in rows)


@given(problem=problems(max_operators=6, max_devices=3, limits=False))
@settings(deadline=None)
def test_the_script_of_a_placement_is_a_plan_without_limits(problem):
    tables = Tables(problem.indexed)
    script = script_of(tables, unlimited_placement(problem.indexed).device)
    if script is not None:
        steps = finished_steps(problem.indexed, script, kept_devices(problem.indexed, script))
        assert replay_steps(problem.indexed, steps).valid


def two_operators(copy_ns: int, *, links: bool = True) -> Problem:
    """`a` is fast on the cpu, `b` on the gpu; between them one tensor of a byte."""

    def costs(cpu_ns: int, gpu_ns: int) -> dict[str, tuple[Implementation, ...]]:
        return {"cpu": (Implementation(cpu_ns),), "gpu": (Implementation(gpu_ns),)}

    names = ("cpu", "host", "gpu")
    ways = [("cpu", "host"), ("host", "gpu"), ("host", "cpu"), ("gpu", "host")]
    return Problem(
        name="two",
        devices=tuple(Device(name) for name in names),
        operators=(
            Operator("a", "x", Phase.FORWARD, (), ("t",), costs=costs(10, 100)),
            Operator("b", "x", Phase.FORWARD, ("t",), ("u",), costs=costs(100, 10)),
        ),
        tensors=(Tensor("t", 1), Tensor("u", 1)),
        links=tuple(Link(a, b, 10**9, copy_ns - 1) for a, b in ways) if links else (),
    )


@pytest.mark.parametrize(("copy_ns", "total_ns"), [(40, 100), (45, 110), (46, 110)])
def test_transfers_go_through_memory_that_computes_nothing(copy_ns, total_ns):
    placement = unlimited_placement(two_operators(copy_ns).indexed)
    assert placement.total_ns == total_ns
    assert placement.exact


def test_without_links_everything_stays_on_the_better_device():
    placement = unlimited_placement(two_operators(1, links=False).indexed)
    assert placement.total_ns == 110
    assert len(set(placement.device)) == 1


def test_a_toll_drives_operators_off_and_none_forbids():
    indexed = two_operators(1).indexed
    assert tolled_placement(indexed, [[0, 0, 0], [0, 0, 0]]) == (0, 2)
    assert tolled_placement(indexed, [[200, 0, 0], [0, 0, 0]]) == (2, 2)
    assert tolled_placement(indexed, [[0, 0, 0], [0, 0, None]]) == (0, 0)


def test_large_times_do_not_overflow_the_flow():
    scale = 10**12 + 7

    def costs(*times: int) -> dict[str, tuple[Implementation, ...]]:
        return {
            name: (Implementation(t * scale + i),) for i, (name, t) in enumerate(zip(("a", "b"), times, strict=True))
        }

    count = 40
    operators = tuple(
        Operator(
            f"o{i}", "x", Phase.FORWARD, (f"t{i - 1}",) if i else (), (f"t{i}",), costs=costs(1 + i % 7, 1 + i % 5)
        )
        for i in range(count)
    )
    problem = Problem(
        name="large",
        devices=(Device("a"), Device("b")),
        operators=operators,
        tensors=tuple(Tensor(f"t{i}", 1) for i in range(count)),
        links=(Link("a", "b", 1, scale), Link("b", "a", 1, scale)),
    )
    placement = unlimited_placement(problem.indexed)
    assert placement.total_ns <= min(p.total_ns for p in single_device_placements(problem.indexed))
    assert placement.total_ns == placement_ns(problem.indexed, placement.device)


def test_no_toll_is_negative_where_a_device_alone_looks_faster_than_any_placement():
    # Neither device can run everything, nothing joins them, and the fastest ways are on the wrong one.
    times = {"a": (1, 100), "b": (None, 1), "c": (50, 1), "d": (1, None)}
    reads = {"a": (), "b": ("a out",), "c": (), "d": ("c out",)}
    problem = Problem(
        "apart",
        devices=(Device("d0", "", 9), Device("d1", "", 10)),
        operators=tuple(
            Operator(
                name, "", Phase.FORWARD, reads[name], (f"{name} out",),
                costs={f"d{i}": (Implementation(ns),) for i, ns in enumerate(times[name]) if ns is not None},
            )
            for name in times
        ),
        tensors=tuple(Tensor(f"{name} out", 1) for name in times),
    )  # fmt: skip
    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scripts, "tolled_placement", lambda _, tolls: asked.append(tolls) or tolled_placement(_, tolls))
        assert (1, 1, 0, 0) in list(scripts.placements(Tables(problem.indexed)))
    assert len(asked) > 1
    assert all(toll >= 0 for tolls in asked for row in tolls for toll in row)
