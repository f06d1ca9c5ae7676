"""Which column to branch on: strong branching, guided by what earlier branchings gave (ALGORITHM.md, section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from xengine_gui.solve.watchpoints import settings
from xengine_gui.solve.watchpoints.box import Box
from xengine_gui.solve.watchpoints.node_program import NodeLp, NodeProgram
from xengine_gui.solve.watchpoints.tables import Floats, Ints

_LEAST_DISTANCE = 1e-3
_LEAST_GAIN = 1e-9


class Child(NamedTuple):
    """One side of a branching: the LP with the column fixed, and its box."""

    lp: NodeLp
    box: Box


@dataclass
class Branching:
    """Tries both values of promising columns and remembers, per column and value, how much the bound rose."""

    program: NodeProgram
    gain: Floats
    tries: Floats

    @classmethod
    def of(cls, program: NodeProgram, columns: int) -> "Branching":
        """Nothing known so far."""
        return cls(program, np.zeros((2, columns)), np.zeros((2, columns)))

    def best(self, node: NodeLp, box: Box, cutoff: float, *, first: bool) -> tuple[Child, Child]:
        """The two sides of the column whose lesser rise is the highest, of those that were tried.

        It ends early when a side is cut off, since then only the other remains, and after some tries in a row that are
        no better.
        """
        best, best_score, idle = list[tuple[Child, Child]](), -1.0, 0
        for column in self._candidates(node, box, settings.FIRST_CANDIDATES if first else settings.CANDIDATES):
            sides = self._try(node, box, column)
            rises = [min(side.lp.bound, cutoff) - node.bound for side in sides]
            self._remember(column, float(node.point[column]), rises, node.bound)
            score = max(_LEAST_GAIN, min(rises)) * max(_LEAST_GAIN, *rises)
            idle = 0 if score > best_score * (1 + _LEAST_GAIN) else idle + 1
            if idle == 0:
                best, best_score = [sides], score
            if idle >= settings.IDLE_CANDIDATES or max(side.lp.bound for side in sides) >= cutoff:
                break
        return best[0]

    def _try(self, node: NodeLp, box: Box, column: int) -> tuple[Child, Child]:
        down, up = box.with_fixed(column, 0.0), box.with_fixed(column, 1.0)
        limit = settings.TRY_ITERATIONS
        return (
            Child(self.program.solve(down, node.basis, limit), down),
            Child(self.program.solve(up, node.basis, limit), up),
        )

    def _remember(self, column: int, value: float, rises: Sequence[float], bound: float) -> None:
        # An empty side, without a cutoff, counts as if it doubled the bound.
        most = 2 * abs(bound) + 1.0
        for side, distance in enumerate((value, 1 - value)):
            self.gain[side, column] += min(max(0.0, rises[side]), most) / max(distance, _LEAST_DISTANCE)
            self.tries[side, column] += 1

    def _candidates(self, node: NodeLp, box: Box, count: int) -> list[int]:
        """Fractional columns, half of them with the best record, half untried ones spread over the plan."""
        open_ = node.fractional(box)
        value = node.point[open_]
        tried = self.tries[0, open_] > 0
        mean = self.gain[:, open_] / np.maximum(1, self.tries[:, open_])
        estimate = np.minimum(mean[0] * value, mean[1] * (1 - value))[tried]
        known: Ints = open_[tried][np.argsort(-estimate, kind="stable")]
        fresh = _spread(open_[~tried], count)
        half = count // 2
        return [int(c) for c in dict.fromkeys([*known[:half], *fresh, *known[half:]])][:count]


def _spread(columns: Ints, count: int) -> Ints:
    """So many of the columns, evenly spaced, the middle ones before those beside them."""
    if not len(columns):
        return columns
    places = np.unique(np.linspace(0, len(columns) - 1, min(len(columns), count)).round().astype(np.int64))
    order = sorted(range(len(places)), key=lambda i: -(i & -i) if i else 0)
    return columns[places[order]]
