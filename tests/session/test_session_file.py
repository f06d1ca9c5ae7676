"""Session files: written, read, moved, broken."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plans_fixed import MOVING, four_operators, plan_of_four
from problems import problems_with_steps

from xengine_gui.cost import DeviceChoice
from xengine_gui.errors import InputError
from xengine_gui.model.device import Link
from xengine_gui.model.plan import Clock, Drop, Plan, Run, Status
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import write_problem
from xengine_gui.paths import sample_graphs
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.verify import verify
from xengine_gui.session import (
    Session,
    View,
    digest_of,
    parse_session,
    read_session,
    restored_plan,
    saved_plan,
    session_to_json,
    write_session,
)

FULL = Session(
    file=Path("/networks/net.onnx"),
    devices=(DeviceChoice("cpu", "i7-8700k", 2**33), DeviceChoice("gpu", "rtx-3060-laptop")),
    training=False,
    optimizer="adam",
    batch=8,
    bindings={"N": 4},
    links=(Link("cpu", "gpu", 10**9, 7),),
    limits={"gpu": 2**40, "cpu": None},
    constraints=({"pin": "t0", "device": "gpu"},),
    strategy="greedy",
    gap_ratio=0.25,
    time_limit_s=None,
    view=View(5, 99, Clock.OVERLAPPED, "dark", "both", "log", ("links", "legend")),
    plans=(saved_plan(plan_of_four()),),
    unknown={"from_a_later_version": {"kept": [1, 2]}},
)


def parse(data: object, folder: Path = Path("/folder")) -> Session:
    return parse_session(data, "s.xengine", folder)


def mistakes_of(**changes: object) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        parse({"format": "xengine-session", "version": 1, "file": "net.onnx", **changes})
    assert caught.value.source == "s.xengine"
    return caught.value.mistakes


def test_everything_comes_back(tmp_path: Path) -> None:
    session = replace(FULL, file=tmp_path / "net.onnx")
    path = tmp_path / "work.xengine"
    write_session(session, path)
    assert read_session(path) == session
    write_session(read_session(path), path)
    assert read_session(path) == session


def test_a_small_session_is_small_and_the_rest_has_defaults() -> None:
    session = parse({"format": "xengine-session", "version": 1, "file": "net.onnx"})
    assert session == Session(Path("/folder/net.onnx"))
    row = session_to_json(session, Path("/folder"))
    assert set(row) == {"format", "version", "file", "strategy", "gap_ratio", "time_limit_s", "view", "plans"}


def test_a_session_moves_with_its_network(tmp_path: Path) -> None:
    (tmp_path / "one" / "nets").mkdir(parents=True)
    session = replace(FULL, file=tmp_path / "one" / "nets" / "net.onnx")
    write_session(session, tmp_path / "one" / "s.xengine")
    assert json.loads((tmp_path / "one" / "s.xengine").read_text())["file"] == "nets/net.onnx"
    (tmp_path / "one").rename(tmp_path / "two")
    assert read_session(tmp_path / "two" / "s.xengine").file == tmp_path / "two" / "nets" / "net.onnx"
    write_session(session, tmp_path / "two" / "nets" / "up.xengine")
    assert json.loads((tmp_path / "two" / "nets" / "up.xengine").read_text())["file"] == "../../one/nets/net.onnx"


def test_a_sample_is_found_wherever_the_session_is() -> None:
    sample = sample_graphs() / "lenet.onnx"
    assert session_to_json(Session(sample), Path("/anywhere"))["file"] == "sample:lenet.onnx"
    assert session_to_json(Session(sample), sample_graphs())["file"] == "lenet.onnx"
    assert parse({"format": "xengine-session", "version": 1, "file": "sample:lenet.onnx"}).file == sample
    # Nothing but samples is reached that way.
    assert parse({"format": "xengine-session", "version": 1, "file": "sample:../../x"}).file == sample_graphs() / "x"


def test_all_mistakes_are_told_at_once_with_their_places() -> None:
    assert mistakes_of(
        file=7,
        devices=[{"name": "a", "preset": "abacus"}, 3],
        batch=0,
        bindings={"N": 0},
        limits={"gpu": -1},
        links=[{"source": "a", "destination": "b", "bandwidth_bytes_per_s": 0}],
        gap_ratio=2,
        time_limit_s=0,
        view={"clock": "sundial", "theme": "pink"},
        plans=[{"steps": [["run", 0], ["fly", 1, 2], ["free", 1, 2.5], "run"]}],
    ) == (
        "file must be text, not 7",
        *mistakes_of(devices=[{"name": "a", "preset": "abacus"}]),
        "devices[1] must be an object, not a number",
        "batch must be at least 1, not 0",
        "bindings.N must be at least 1, not 0",
        "links[0].bandwidth_bytes_per_s must be at least 1, not 0",
        "limits.gpu must be at least 0, not -1",
        "gap_ratio must be a share from 0 to below 1, not 2.0",
        "time_limit_s must be above 0 (or null for no limit), not 0.0",
        'view.theme must be one of system, light, dark, not "pink"',
        'view.clock must be one of serial, overlapped, not "sundial"',
        *(
            f'plans[0].steps[{i}] must be ["run", device, operator], ["move", from, to, tensor] or '
            f'["free", device, tensor], not {what}'
            for i, what in enumerate(['["run", 0]', '["fly", 1, 2]', '["free", 1, 2.5]', '"run"'])
        ),
    )


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([], 'must be an object with "format": "xengine-session"'),
        ({"format": "xengine-plan", "version": 1}, 'must be "xengine-session", not "xengine-plan"'),
        ({"format": "xengine-session", "version": 2}, "must be 1, the only version there is, but is 2"),
        ({"format": "xengine-session", "version": 1}, "file is missing"),
        ({"format": "xengine-session", "version": 1, "file": " "}, "file is empty"),
    ],
)
def test_what_is_no_session_is_told(data: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse(data)


def test_two_devices_of_one_name_are_told() -> None:
    row = {"name": "gpu", "preset": "rtx-4090"}
    assert mistakes_of(devices=[row, row]) == ("devices have two of the name 'gpu'",)


def test_a_plan_comes_back_with_what_was_proved() -> None:
    plan = replace(plan_of_four(MOVING), status=Status.OPTIMAL, lower_bound_ns=310, runtime_s=2.5)
    assert restored_plan(saved_plan(plan), plan.problem) == plan


def test_a_plan_for_another_problem_has_nothing_proved() -> None:
    plan = replace(plan_of_four(), status=Status.OPTIMAL, lower_bound_ns=110)
    saved = saved_plan(plan)
    larger = four_operators(limit_bytes=300)
    again = restored_plan(saved, larger)
    assert again is not None
    assert (again.status, again.lower_bound_ns, again.total_ns) == (Status.FEASIBLE, None, 110)
    assert again.problem is larger
    assert restored_plan(saved, four_operators(limit_bytes=269)) is None
    assert restored_plan(saved, replace(plan.problem, name="renamed", notes="x")) == replace(
        plan, problem=replace(plan.problem, name="renamed", notes="x")
    )


@pytest.mark.parametrize("step", [Run(9, 0), Run(0, 9), Run(0, 0, 9), Drop(0, 9), Drop(9, 0)])
def test_a_plan_that_names_what_is_not_there_is_dropped(step: Run | Drop) -> None:
    saved = replace(saved_plan(plan_of_four()), steps=(step,))
    assert restored_plan(saved, four_operators()) is None


def test_a_bound_above_the_total_is_no_bound() -> None:
    saved = replace(saved_plan(plan_of_four()), status=Status.OPTIMAL, lower_bound_ns=111)
    plan = restored_plan(saved, four_operators())
    assert plan is not None
    assert (plan.status, plan.lower_bound_ns) == (Status.FEASIBLE, None)


def test_the_digest_tells_problems_apart() -> None:
    one = four_operators()
    assert digest_of(one) == digest_of(four_operators()) == digest_of(replace(one, name="x"))
    assert (
        len({digest_of(p) for p in (one, one.with_limit("gpu", 271), replace(one, links=()), replace(one, keep=()))})
        == 4
    )


def test_limits_of_a_problem_file_are_put_on(tmp_path: Path) -> None:
    write_problem(four_operators(), tmp_path / "four.json")
    session = Session(tmp_path / "four.json", limits={"gpu": None, "cpu": 7})
    assert [d.memory_limit_bytes for d in session.problem().devices] == [None, 7]
    with pytest.raises(InputError, match="there is no device 'tpu'"):
        replace(session, limits={"tpu": 1}).problem()


def test_a_network_is_planned_with_its_setup_and_its_links() -> None:
    session = replace(FULL, file=sample_graphs() / "lenet.onnx", bindings={}, limits={}, batch=4, constraints=())
    problem = session.problem()
    assert problem.device("cpu").memory_limit_bytes == 2**33
    links = {(k.source, k.destination): k for k in problem.links}
    assert links["cpu", "gpu"] == Link("cpu", "gpu", 10**9, 7)
    assert links["gpu", "cpu"].bandwidth_bytes_per_s != 10**9
    elsewhere = replace(session, links=(Link("cpu", "tpu", 1),)).problem()
    assert {(k.source, k.destination) for k in elsewhere.links} == {("cpu", "gpu"), ("gpu", "cpu")}


def test_constraints_are_part_of_the_problem_that_a_session_plans() -> None:
    plain = Session(file=sample_graphs() / "two_devices.json")
    operator = plain.problem().operators[1].name
    bound = replace(plain, constraints=({"compute_once": operator},)).problem()
    assert [o.name for o in bound.operators if not o.recomputable] == [operator]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"pin": "t0", "device": "gpu"}, "is not understood"),
        ({"compute_once": "no such thing"}, "never recompute no such thing: there is no operator of this name"),
    ],
)
def test_a_constraint_that_cannot_hold_is_told_rather_than_left_out(row: dict[str, str], why: str) -> None:
    session = Session(file=sample_graphs() / "two_devices.json", constraints=(row,))
    with pytest.raises(InputError, match=why):
        session.problem()


def test_half_a_character_in_what_is_not_understood_is_kept(tmp_path: Path) -> None:
    session = parse(
        {
            "format": "xengine-session",
            "version": 1,
            "file": "net.onnx",
            "later": ["\ud83d", "ü"],
            "constraints": [{"\ud83d": 1}],
        }
    )
    write_session(session, tmp_path / "s.xengine")
    assert read_session(tmp_path / "s.xengine").unknown == {"later": ["\ud83d", "ü"]}


@settings(deadline=None, max_examples=60)
@given(given_=problems_with_steps(), status=st.sampled_from([Status.FEASIBLE, Status.OPTIMAL]))
def test_any_plan_comes_back_from_the_file(given_: tuple[Problem, list[Any]], status: Status) -> None:
    plan: Plan = replace(finished_plan(given_[0], "test", given_[1]), status=status)
    session = Session(Path("/folder/p.json"), plans=(saved_plan(plan),))
    text = json.dumps(session_to_json(session, Path("/folder")))
    read = parse(json.loads(text))
    assert read == session
    again = restored_plan(read.plans[0], plan.problem)
    assert again == plan
    assert verify(again).ok
