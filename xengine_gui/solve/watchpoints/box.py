"""Which values the columns of a relaxation may still take."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from xengine_gui.solve.watchpoints.tables import Floats

Bounds = Floats | npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Box:
    """Which values each column may still take: 0 where `upper` is 0, 1 where `lower` is 1, else both."""

    lower: Bounds
    upper: Bounds

    @classmethod
    def whole(cls, count: int) -> "Box":
        """Every column free."""
        return cls(np.zeros(count), np.ones(count))

    @property
    def free(self) -> npt.NDArray[np.bool_]:
        """The columns that are not fixed."""
        return self.upper > self.lower

    def slim(self) -> "Box":
        """The same in an eighth of the memory."""
        return Box(self.lower > 0, self.upper > 0)

    def as_floats(self) -> tuple[Floats, Floats]:
        """Both sides as the solver wants them."""
        return np.asarray(self.lower, float), np.asarray(self.upper, float)

    def with_fixed(self, column: int, value: float) -> "Box":
        """The same with one more column fixed."""
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[column] = upper[column] = value
        return Box(lower, upper)

    def below(self, cutoff: float, bound: float, reduced: npt.NDArray[np.floating[Any]]) -> "Box":
        """The box without values that no solution below the cutoff has, by the reduced costs of a bound."""
        margin = 1e-9 * abs(bound) + 1e-7
        lower = np.where((bound - reduced > cutoff + margin) & (self.upper > 0), 1.0, self.lower)
        upper = np.where((bound + reduced > cutoff + margin) & (self.lower < 1), 0.0, self.upper)
        return Box(lower, upper)
