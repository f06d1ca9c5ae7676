"""Random tiny problems and plans for them, for every test that wants some."""

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from xengine_gui.model.device import Device, Link, TransferTime
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Drop, Move, Run, Step
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Parameter, Tensor
from xengine_gui.schedule.replay import replay_steps

SIZES = st.integers(0, 9)
TIMES = st.integers(0, 9)


@st.composite
def problems(
    draw: st.DrawFn, *, max_operators: int = 6, max_devices: int = 3, limits: bool = True, connected: bool = False
) -> Problem:
    """A valid problem: devices that cannot run everything, parameters, workspace, several implementations and outputs,
    operators that must not be recomputed, tensors to keep, transfers that override links, zero sizes and times.

    `connected` gives every operator every device and every two devices a link; such a problem always has a plan
    when `limits` is off.
    """
    devices = draw(st.integers(1, max_devices))
    names = [f"device {i}" for i in range(devices)]
    parameters = [Parameter(f"p{i}", draw(SIZES)) for i in range(draw(st.integers(0, 2)))]
    operators: list[Operator] = []
    tensors: list[Tensor] = []
    for o in range(draw(st.integers(0, max_operators))):
        known = [t.name for t in tensors]
        # Mostly chains, as networks are: the latest tensors are likelier inputs than early ones.
        inputs = draw(st.lists(st.sampled_from(known[-4:]), max_size=3)) if known else []
        outputs = [f"t{len(tensors) + i}" for i in range(draw(st.sampled_from([1, 1, 1, 2, 0])))]
        tensors += [Tensor(name, draw(SIZES)) for name in outputs]
        able = names if connected else draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
        costs = {name: draw(implementations()) for name in able}
        operators.append(
            Operator(
                name=f"o{o}",
                kind=draw(st.sampled_from(["Conv", "Relu"])),
                phase=draw(st.sampled_from(Phase)),
                inputs=tuple(inputs),
                outputs=tuple(outputs),
                parameters=tuple(draw(st.lists(st.sampled_from([p.name for p in parameters]), max_size=2)))
                if parameters
                else (),
                recomputable=draw(st.sampled_from([True, True, True, False])),
                costs=costs,
            )
        )
    pairs = [(a, b) for a in names for b in names if a != b]
    linked = pairs if connected else [pair for pair in pairs if draw(st.sampled_from([True, True, False]))]
    links = [Link(a, b, draw(st.sampled_from([10**9, 3 * 10**8])), draw(TIMES)) for a, b in linked]
    transfers = [
        TransferTime(draw(st.sampled_from(tensors)).name, *draw(st.sampled_from(pairs)), draw(TIMES))
        for _ in range(draw(st.integers(0, 3)) if tensors and pairs else 0)
    ]
    everything = sum(t.size_bytes for t in tensors) + sum(p.size_bytes for p in parameters) + 9
    limit = st.none() | st.integers(everything // 3, everything) if limits else st.none()
    keep = draw(st.lists(st.sampled_from([t.name for t in tensors]), max_size=2, unique=True)) if tensors else []
    return Problem(
        name="random",
        devices=tuple(Device(name, draw(st.sampled_from(["cpu", "gpu", ""])), draw(limit)) for name in names),
        operators=tuple(operators),
        tensors=tuple(tensors),
        parameters=tuple(parameters),
        links=tuple(links),
        transfers=tuple(transfers),
        keep=tuple(keep),
        notes=draw(st.sampled_from(["", "a note"])),
    )


@st.composite
def implementations(draw: st.DrawFn) -> tuple[Implementation, ...]:
    """One nameless way to run an operator, or some with names."""
    count = draw(st.sampled_from([1, 1, 2]))
    names = ["direct", "winograd"] if count == 2 else [draw(st.sampled_from([None, "direct"]))]
    return tuple(Implementation(draw(TIMES), draw(st.sampled_from([0, 0, 4])), name) for name in names)


@dataclass
class _Devices:
    """What a plan that is being made up has on each device."""

    problem: Problem
    choose: Callable[[list[Step]], Step]
    there: set[tuple[int, int]]
    steps: list[Step]

    def do(self, step: Step) -> None:
        """Take a step and remember what it leaves where."""
        self.steps.append(step)
        if isinstance(step, Run):
            self.there.update((step.device, t) for t in self.problem.indexed.outputs[step.operator])
        elif isinstance(step, Move):
            self.there.add((step.destination, step.tensor))
        else:
            self.there.remove((step.device, step.tensor))

    def fetch(self, device: int, tensor: int, busy: frozenset[tuple[int, int]]) -> bool:
        """Bring a tensor to a device, over as many links as it takes, or by computing its producer again."""
        indexed = self.problem.indexed
        if (device, tensor) in self.there:
            return True
        if (device, tensor) in busy:
            return False
        busy |= {(device, tensor)}
        for source in range(indexed.device_count):
            if indexed.copy_ns(source, device, tensor) is not None and self.fetch(source, tensor, busy):
                self.do(Move(source, device, tensor))
                return True
        return self.run(device, indexed.producer[tensor], busy)

    def run(self, device: int, operator: int, busy: frozenset[tuple[int, int]]) -> bool:
        """Compute an operator on a device, first or again, with all that it needs."""
        indexed = self.problem.indexed
        again = any(isinstance(s, Run) and s.operator == operator for s in self.steps)
        ways = indexed.implementations[operator][device]
        if not ways or (again and not indexed.recomputable[operator]):
            return False
        if not again and any(not self.computed(o) for o in range(operator)):
            return False
        if not all(self.fetch(device, t, busy) for t in indexed.inputs[operator]):
            return False
        step = self.choose([Run(device, operator, j) for j in range(len(ways))])
        self.do(step)
        return True

    def computed(self, operator: int) -> bool:
        """Whether an operator has been computed."""
        return any(isinstance(s, Run) and s.operator == operator for s in self.steps)


@st.composite
def steps_for(draw: st.DrawFn, problem: Problem) -> list[Step] | None:
    """Steps that compute everything, with frees, recomputations and transfers here and there that nobody needs.

    `None` where this simple way of planning finds none. Limits are not heeded.
    """
    indexed = problem.indexed
    state = _Devices(problem, lambda steps: draw(st.sampled_from(steps)), set(), [])
    for operator in range(indexed.operator_count):
        devices = draw(st.permutations(range(indexed.device_count)))
        if not any(state.run(d, operator, frozenset()) for d in devices):
            return None
        for _ in range(draw(st.integers(0, 2))):
            _wander(draw, state, operator)
    for tensor in sorted(indexed.keep):
        if not any(state.fetch(d, tensor, frozenset()) for d in range(indexed.device_count)):
            return None
    return state.steps


def _wander(draw: st.DrawFn, state: _Devices, latest: int) -> None:
    """One free, recomputation or transfer, if any is possible."""
    indexed = state.problem.indexed
    there = sorted(state.there)
    choices: list[Step] = [Drop(d, t) for d, t in there]
    choices += [
        Move(a, b, t)
        for a, t in there
        for b in range(indexed.device_count)
        if a != b and indexed.copy_ns(a, b, t) is not None
    ]
    choices += [
        Run(d, o)
        for o in range(latest + 1)
        for d in range(indexed.device_count)
        if indexed.recomputable[o]
        and indexed.implementations[o][d]
        and all((d, t) in state.there for t in indexed.inputs[o])
    ]
    if choices:
        state.do(draw(st.sampled_from(choices)))


@st.composite
def problems_with_steps(draw: st.DrawFn, *, max_operators: int = 6) -> tuple[Problem, list[Step]]:
    """A problem and steps that plan it, with limits that the steps just reach, or miss by little."""
    problem = draw(problems(max_operators=max_operators, limits=False))
    steps = draw(steps_for(problem).filter(lambda found: found is not None))
    assert steps is not None
    for device, peak in zip(problem.devices, replay_steps(problem.indexed, steps).peak_bytes, strict=True):
        if draw(st.booleans()):
            problem = problem.with_limit(device.name, peak + draw(st.sampled_from([0, 0, 1, 5])))
    return problem, steps
