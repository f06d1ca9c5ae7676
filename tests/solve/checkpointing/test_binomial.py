"""Binomial checkpointing: the closed forms are the optimum of the recurrence that defines the problem."""

from functools import cache

import pytest

from xengine_gui.solve.checkpointing.binomial import advance, extra_steps, reach, repetitions


@cache
def fewest(steps: int, checkpoints: int) -> int:
    """The fewest extra forward steps: advance m, reverse the rest with one checkpoint less, then the first m."""
    if steps == 1:
        return 0
    if checkpoints == 1:
        return steps * (steps - 1) // 2
    splits = range(1, steps)
    return min(m + fewest(steps - m, checkpoints - 1) + fewest(m, checkpoints) for m in splits)


def test_the_published_values() -> None:
    assert extra_steps(10, 3) == 15
    assert extra_steps(100, 10) == 222


@pytest.mark.parametrize("checkpoints", range(1, 13))
def test_the_closed_form_is_the_optimum(checkpoints: int) -> None:
    for steps in range(1, 61):
        assert extra_steps(steps, checkpoints) == fewest(steps, checkpoints)


@pytest.mark.parametrize("checkpoints", range(2, 13))
def test_the_advance_is_the_first_of_an_optimal_reversal(checkpoints: int) -> None:
    for steps in range(2, 61):
        m = advance(steps, checkpoints)
        assert 1 <= m < steps
        assert m + fewest(steps - m, checkpoints - 1) + fewest(m, checkpoints) == fewest(steps, checkpoints)


def test_repetitions_are_the_least_that_reach() -> None:
    for checkpoints in range(1, 8):
        for steps in range(1, 200):
            r = repetitions(steps, checkpoints)
            assert reach(checkpoints, r - 1) < steps <= reach(checkpoints, r)


def test_without_a_second_checkpoint_there_is_nothing_to_set() -> None:
    with pytest.raises(ValueError, match="second one"):
        advance(5, 1)
