"""Closed forms of binomial checkpointing (Griewank and Walther, Algorithm 799, ACM TOMS 2000).

A chain of l steps is reversed with c checkpoints, the one that holds the chain's input among them. Reversing a step
takes a forward evaluation of it that records what its backward wants: l evaluations that no method saves. *Extra*
forward steps are those that advance without recording, the first sweep's among them.
"""

from math import comb


def reach(checkpoints: int, repetitions: int) -> int:
    """β(c, r) = (c + r choose c), the longest chain that c checkpoints reverse, each step advanced r times at most."""
    return comb(checkpoints + repetitions, checkpoints) if repetitions >= 0 else 0


def repetitions(steps: int, checkpoints: int) -> int:
    """The least r with β(c, r) ≥ l."""
    r = 0
    while reach(checkpoints, r) < steps:
        r += 1
    return r


def extra_steps(steps: int, checkpoints: int) -> int:
    """t(l, c) = r·l - β(c + 1, r - 1), the fewest extra forward steps: t(10, 3) = 15, t(100, 10) = 222."""
    r = repetitions(steps, checkpoints)
    return r * steps - reach(checkpoints + 1, r - 1)


def advance(steps: int, checkpoints: int) -> int:
    """How far an optimal reversal advances before it sets its next checkpoint, of which one more is free.

    With m steps advanced the rest is reversed with c - 1 checkpoints and then the first m with c. Every m with
    β(c, r - 2) ≤ m ≤ β(c, r - 1) and β(c - 1, r - 1) ≤ l - m ≤ β(c - 1, r) is optimal; the largest is taken.
    """
    if steps < 2 or checkpoints < 2:
        raise ValueError("a checkpoint is set only on a chain of two steps or more, with a second one to set")
    r = repetitions(steps, checkpoints)
    return min(reach(checkpoints, r - 1), steps - reach(checkpoints - 1, r - 1))
