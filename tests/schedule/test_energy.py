"""The energy of plans: powers times times, and what is said where a power is missing."""

from dataclasses import replace

import pytest
from problems_fixed import chain_problem

from xengine_gui.model.device import Device, Link, TransferTime
from xengine_gui.model.plan import Clock, Drop, Move, Run
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.energy import missing_power, plan_energy_fj
from xengine_gui.schedule.finish import finished_plan, on_clock
from xengine_gui.schedule.summary import summarise
from xengine_gui.units import format_energy, format_power


def powered(device_uw: int | None = 7, link_uw: int | None = 3) -> Problem:
    """A chain of operators of 10 ns, and a card to which a tensor of 100 bytes is copied in 105 ns."""
    problem = chain_problem(length=3)
    return replace(
        problem,
        devices=(replace(problem.devices[0], power_uw=device_uw), Device("card", "storage")),
        links=(Link("gpu", "card", 10**9, 5, link_uw), Link("gpu", "card", 1, 0, 99), Link("card", "gpu", 10**9, 5)),
    )


STEPS = [Run(0, 0), Run(0, 1), Run(0, 0), Move(0, 1, 0), Drop(0, 0), Run(0, 2)]


def test_energy_is_power_times_time_of_every_event_on_either_clock() -> None:
    plan = finished_plan(powered(), "by hand", STEPS)
    assert plan_energy_fj(plan) == 7 * 40 + 3 * 105
    assert plan_energy_fj(on_clock(plan, Clock.OVERLAPPED)) == 7 * 40 + 3 * 105
    assert summarise(plan).energy_fj == 7 * 40 + 3 * 105


def test_an_energy_that_nobody_knows_is_none() -> None:
    assert plan_energy_fj(finished_plan(powered(device_uw=None), "by hand", STEPS)) is None
    assert plan_energy_fj(finished_plan(powered(link_uw=None), "by hand", STEPS)) is None
    assert plan_energy_fj(finished_plan(powered(link_uw=None), "by hand", [Run(0, 0), Run(0, 1), Run(0, 2)])) == 7 * 30


def test_the_missing_power_is_named() -> None:
    assert missing_power(powered(device_uw=None)) == "device 'gpu' has no power_uw"
    assert missing_power(powered()) == "the link from 'card' to 'gpu' has no power_uw"
    whole = replace(powered(), links=powered().links[:1])
    assert missing_power(whole) == ""
    loose = replace(whole, transfers=(TransferTime("t0", "card", "gpu", 9),))
    assert missing_power(loose).startswith("there are transfers from 'card' to 'gpu' but no link")


@pytest.mark.parametrize(
    ("energy_fj", "shown"),
    [(1_700_000_000_000_000, "1.70 J"), (134_000_000_000_000, "134 mJ"), (330_000_000_000, "330 µJ"), (595, "0.00 nJ")],
)
def test_energies_are_shown_at_a_sensible_scale(energy_fj: int, shown: str) -> None:
    assert format_energy(energy_fj) == shown


@pytest.mark.parametrize(
    ("power_uw", "shown"), [(3_000_000, "3.00 W"), (10_982, "11.0 mW"), (330_000, "330 mW"), (7, "7 µW")]
)
def test_powers_are_shown_at_a_sensible_scale(power_uw: int, shown: str) -> None:
    assert format_power(power_uw) == shown
