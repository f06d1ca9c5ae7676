"""Explanations of small plans whose figures are known by hand, and what must hold for any."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from plans_fixed import B1, CPU, F0, F1, F2, GPU, MOVING, T0, T1, four_operators, plan_of_four
from problems import problems_with_steps
from problems_fixed import training_chain

from xengine_gui.model.plan import Clock, Compute, Drop, Free, Move, Run, Transfer
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.explain import Explainer, why_freed, why_recomputed, why_retained, why_transferred
from xengine_gui.schedule.finish import finished_plan, on_clock
from xengine_gui.schedule.history import Held
from xengine_gui.schedule.replay import replay_steps


def test_a_recompute_tells_what_forced_its_result_out() -> None:
    why = why_recomputed(plan_of_four(), 5)
    stayed = why.had_it_stayed
    assert stayed is not None
    assert (stayed.tensor, stayed.device, stayed.size_bytes) == ("t0", "gpu", 100)
    # Before the free: parameters 20, t0 100, t1 100. At f2, with t0: 20 + 100 + 100 + 100, the limit is 270.
    assert (stayed.freed_by, stayed.freed_ns, stayed.freed_at_bytes) == (2, 30, 220)
    assert (stayed.moment.event, stayed.moment.time_ns) == (3, 30)
    assert (stayed.level_bytes, stayed.over_bytes) == (320, 50)
    assert stayed.held == (Held("t1", 100), Held("t2", 100), Held("parameters", 20, is_tensor=False))
    assert (why.cost_ns, why.alternative_ns) == (10, 210)
    assert why.sentences == (
        "t0 was freed on gpu at 30 ns, when 220 B were held.",
        "Had it stayed, gpu would have held 320 B with f2 at 30 ns: 50 bytes above its limit of 270 B.",
        "The room was taken by t1 (100 B), t2 (100 B), parameters (20 B).",
        "b1 needs it on gpu at 70 ns.",
        "Computing it again takes 10 ns; moving it to cpu and back would take 210 ns.",
    )


@pytest.mark.parametrize(
    ("limit", "over", "sentence"), [(320, 0, "0 B free"), (400, -80, "80 B free"), (None, None, "no limit")]
)
def test_a_recompute_that_nothing_forced_is_told(limit: int | None, over: int | None, sentence: str) -> None:
    why = why_recomputed(plan_of_four(problem=four_operators(limit_bytes=limit)), 5)
    assert why.had_it_stayed is not None
    assert why.had_it_stayed.over_bytes == over
    assert sentence in why.sentences[1]


def test_a_device_without_room_is_no_way_out() -> None:
    problem = four_operators().with_limit("cpu", 90)
    assert "moving it to cpu and back would take 210 ns, which lacks 10 bytes of room" in str(
        why_recomputed(plan_of_four(problem=problem), 5)
    )
    alone = replace(four_operators(), links=())
    why = why_recomputed(plan_of_four(problem=alone), 5)
    assert "no other device could have taken it" in str(why)
    assert why.alternative_ns is None


def test_a_recompute_counts_what_is_recomputed_for_it() -> None:
    f0, f1, f2, b2, b1, b0 = range(6)
    steps = [
        Run(0, f0), Run(0, f1), Drop(0, f0), Run(0, f2), Drop(0, f1), Run(0, b2), Drop(0, f2),
        Run(0, f0), Run(0, f1), Run(0, b1), Drop(0, f1), Drop(0, b2), Run(0, b0),
    ]  # fmt: skip
    plan = finished_plan(training_chain(3, 300), "test", steps)
    assert (why_recomputed(plan, 7).cost_ns, why_recomputed(plan, 8).cost_ns) == (10, 20)
    assert "Computing it again takes 10 ns, and 10 ns more for the 1 step that it needs before" in str(
        why_recomputed(plan, 8)
    )


def test_a_recompute_elsewhere_is_compared_with_a_transfer() -> None:
    steps = [Run(GPU, F0), Run(GPU, F1), Run(CPU, F0), Run(GPU, F2), Run(GPU, B1)]
    plan = plan_of_four(steps, four_operators(limit_bytes=None))
    why = why_recomputed(plan, 2)
    assert (why.cost_ns, why.alternative_ns) == (100, 105)
    assert why.sentences[0] == "t0 is on gpu, and was never on cpu before."
    assert why.sentences[-1] == "Computing it again takes 100 ns; a transfer from gpu would take 105 ns."


def test_a_recompute_of_what_is_there_is_told() -> None:
    plan = plan_of_four([Run(GPU, F0), Run(GPU, F0), Run(GPU, F1), Run(GPU, F2), Run(GPU, B1)])
    assert why_recomputed(plan, 1).sentences == ("All that f0 makes was still on gpu.",)


def test_a_tensor_that_waits_elsewhere_is_told_both_ways() -> None:
    plan = plan_of_four(MOVING)
    there, back = why_transferred(plan, 2), why_transferred(plan, 6)
    assert (there.cost_ns, there.alternative_ns) == (210, 10)
    assert there.sentences[0] == "It waits on cpu until it goes back to gpu at 165 ns."
    assert (
        there.sentences[-1] == "There and back takes 210 ns; computing it again on gpu would take 10 ns (computing f0)."
    )
    assert (back.cost_ns, back.alternative_ns) == (105, 10)
    for why in (there, back):
        assert why.had_it_stayed is not None
        assert (why.had_it_stayed.freed_ns, why.had_it_stayed.over_bytes) == (135, 50)
        assert why.had_it_stayed.moment.event == 4


def test_a_transfer_to_where_it_is_read_has_the_alternative_of_computing_there() -> None:
    steps = [
        Run(CPU, F0),
        Run(CPU, F1),
        Move(CPU, GPU, T1),
        Drop(CPU, T1),
        Run(GPU, F2),
        Move(CPU, GPU, T0),
        Run(GPU, B1),
    ]
    plan = plan_of_four(steps, four_operators(limit_bytes=None))
    why = why_transferred(plan, 2)
    # On the gpu there is neither t0 nor t1: f0 and f1 take 30 ns there, a transfer of t0 would take 105.
    assert (why.cost_ns, why.alternative_ns) == (105, 30)
    assert why.sentences == (
        "f2 needs it on gpu at 405 ns.",
        "The transfer takes 105 ns; computing it on gpu instead would take 30 ns (computing f0, f1).",
    )


def test_what_cannot_be_computed_there_has_no_alternative() -> None:
    problem = four_operators(limit_bytes=None)
    stuck = replace(problem, operators=(replace(problem.operators[0], recomputable=False), *problem.operators[1:]))
    plan = plan_of_four(MOVING, stuck)
    assert why_transferred(plan, 6).alternative_ns is None
    assert "it cannot be computed on gpu then" in str(why_transferred(plan, 6))


def test_a_free_tells_the_last_use_and_the_next() -> None:
    plan = plan_of_four()
    assert why_freed(plan, 2).sentences == (
        "Its last use on gpu was f1.",
        "Next it is needed by b1; for that it is computed again at 60 ns.",
        "100 B come free: from 220 B to 120 B.",
    )
    assert why_freed(plan, 7).sentences[:2] == ("Its last use on gpu was b1.", "Nothing needs it any more.")
    moving = plan_of_four(MOVING)
    assert (
        why_freed(moving, 3).sentences[1] == "Next it is needed by b1; for that it is transferred from cpu at 165 ns."
    )
    assert why_freed(moving, 7).sentences[1] == "It stays on gpu."


def test_a_retained_tensor_tells_what_dropping_it_would_cost() -> None:
    plan = plan_of_four([Run(GPU, o) for o in (F0, F1, F2, B1)], four_operators(limit_bytes=None))
    why = why_retained(plan, "t0", "gpu", 35)
    assert why.alternative_ns == 10
    assert why.sentences == ("It waits for b1.", "Dropping it until then would cost 10 ns (computing f0).")
    assert why_retained(plan, "t0", "gpu", 15).sentences == ("f1 is reading it.",)
    assert why_retained(plan, "t0", "gpu", 5).sentences == ("f0 is making it.",)
    assert why_retained(plan, "g", "gpu", 100).sentences == ("It must be there at the end.",)
    with pytest.raises(ValueError, match="not on 'cpu' at 35 ns"):
        why_retained(plan, "t0", "cpu", 35)


def test_dropping_what_is_far_from_anything_costs_the_whole_chain() -> None:
    f0, f1, f2, b2, b1, b0 = range(6)
    steps = [Run(0, f0), Run(0, f1), Drop(0, f0), Run(0, f2), Run(0, b2), Run(0, b1), Run(0, f0), Run(0, b0)]
    plan = finished_plan(training_chain(3), "test", steps)
    why = why_retained(plan, "f1", "gpu", 35)
    assert why.alternative_ns == 20
    assert why.sentences[1] == "Dropping it until then would cost 20 ns (computing f0, f1)."


def test_what_a_link_brings_quicker_is_not_computed_again() -> None:
    steps = [Run(CPU, F0), Move(CPU, GPU, T0), Run(GPU, F1), Run(GPU, F2), Run(GPU, B1)]
    slow = four_operators(limit_bytes=None)
    rows = {"gpu": tuple(replace(way, time_ns=500) for way in slow.operators[0].costs["gpu"])}
    first = replace(slow.operators[0], costs={**slow.operators[0].costs, **rows})
    plan = plan_of_four(steps, replace(slow, operators=(first, *slow.operators[1:])))
    assert plan.events[2].start_ns == 205
    why = why_retained(plan, "t0", "gpu", 230)
    assert why.sentences[1] == "Dropping it until then would cost 105 ns (transferring t0 from cpu)."


def test_questions_about_the_wrong_events_are_refused() -> None:
    plan = plan_of_four()
    for question in (why_recomputed, why_transferred, why_freed):
        with pytest.raises(ValueError, match="event 0 "):
            question(plan, 0)


@settings(deadline=None, max_examples=80)
@given(given_=problems_with_steps())
def test_what_is_held_adds_up_to_the_level_at_every_moment(given_: tuple[Problem, list[Any]]) -> None:
    serial = finished_plan(given_[0], "test", given_[1])
    for plan in (serial, on_clock(serial, Clock.OVERLAPPED)):
        history = Explainer(plan).history
        for device, places in history._places.items():
            # Of changes that happen at once (a result and its workspace) the last has the level.
            for place, level in dict(zip(places, history._levels[device], strict=True)).items():
                assert sum(held.size_bytes for held in history.held_after(device, place)) == level
            assert max([history.walk.home_bytes(device), *history._levels[device]]) == plan.peak_bytes[device]


@settings(deadline=None, max_examples=150)
@given(given_=problems_with_steps())
def test_every_event_is_explained_and_what_is_said_of_staying_is_what_a_replay_says(
    given_: tuple[Problem, list[Any]],
) -> None:
    problem, steps = given_
    plan = finished_plan(problem, "test", steps)
    explainer = Explainer(plan)
    number = {d.name: i for i, d in enumerate(problem.devices)}
    for i, event in enumerate(plan.events):
        why = explainer.why(i)
        assert all(sentence.endswith(".") for sentence in why.sentences)
        assert why.sentences or (isinstance(event, Compute) and not event.again)
        stayed = why.had_it_stayed
        back = i if not isinstance(event, Transfer) or event.destination == (stayed and stayed.device) else None
        if stayed is None or back is None or isinstance(event, Free):
            continue
        # The same steps up to here, without the free.
        kept = [*steps[: stayed.freed_by], *steps[stayed.freed_by + 1 : back]]
        levels = replay_steps(problem.indexed, kept).levels(number[stayed.device])[stayed.freed_by :]
        homes = replay_steps(problem.indexed, kept).parameter_bytes[number[stayed.device]]
        all_homes = replay_steps(problem.indexed, steps).parameter_bytes[number[stayed.device]]
        highest = max([int(level) - homes + all_homes for level in levels] + [stayed.freed_at_bytes])
        assert stayed.level_bytes == highest
