"""How often operators may be computed, and what a bound under such a restriction is worth without it."""

from collections import Counter
from collections.abc import Sequence

from xengine_gui.model.plan import Drop, Run, Step
from xengine_gui.solve.formulations.one_device import OneDevice

_WHOLE_OPERATORS = 12
_THRICE_OPERATORS = 30


def sensible_computations(one: OneDevice) -> list[int]:
    """Per operator the stages in which it makes sense to compute it: no staged plan needs more."""
    counts = Counter(operator for _, operator in one.runs)
    return [counts[operator] for operator in range(one.indexed.operator_count)]


def usual_computations(operator_count: int) -> int | None:
    """How often operators may be computed where nobody says otherwise: the paper's 2, more for small problems."""
    if operator_count <= _WHOLE_OPERATORS:
        return None
    return 3 if operator_count <= _THRICE_OPERATORS else 2


def unrestricted_bound_ns(one: OneDevice, allowed: Sequence[int], bound_ns: int) -> int:
    """A bound on the total of every staged plan, from one on those that keep to `allowed` computations.

    A plan that does not keep to them computes some operator once more than allowed, and all others at least once.
    """
    beyond = (
        most * time_ns
        for most, sensible, time_ns in zip(allowed, sensible_computations(one), one.time_ns, strict=True)
        if most < sensible
    )
    return min([bound_ns, *(sum(one.time_ns) + time_ns for time_ns in beyond)])


def steps_of_runs(one: OneDevice, runs: Sequence[Run]) -> list[Step]:
    """The steps that take `runs` in this order, every tensor freed as soon as nothing wants that copy."""
    indexed = one.indexed
    wanted = [set(indexed.keep)]
    for run in reversed(runs):
        before = wanted[-1].difference(indexed.outputs[run.operator])
        wanted.append(before.union(indexed.inputs[run.operator]))
    wanted.reverse()
    steps: list[Step] = []
    there: set[int] = set()
    for run, later in zip(runs, wanted[1:], strict=True):
        steps.append(run)
        there.update(indexed.outputs[run.operator])
        for tensor in sorted(there - later):
            there.remove(tensor)
            steps.append(Drop(one.device, tensor))
    return steps
