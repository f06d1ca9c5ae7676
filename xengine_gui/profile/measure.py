"""From a graph to a table of measured costs."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from xengine_gui.cost.build import refuse_unknown_sizes
from xengine_gui.cost.flops import Work, work
from xengine_gui.cost.measured import CostRow
from xengine_gui.model.graph import TrainingGraph, TrainingOperator
from xengine_gui.model.operator import Phase
from xengine_gui.profile.onnx_runtime import OnnxRuntime, Timing
from xengine_gui.profile.recipes import Recipe, backward_recipes, forward_recipe, of, shape_of

_REFERENCE_ELEMENTS = 2**22
_REFERENCE_ROWS = 512


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """How to measure: samples of each operator, threads (0: one per core), and which clock.

    `processor_time` counts the time that the one thread has the processor, which other work on the machine disturbs
    little; it needs `threads` to be 1.
    """

    runs: int = 15
    threads: int = 0
    processor_time: bool = False


def profile(
    graph: TrainingGraph,
    device: str = "cpu",
    options: ProfileOptions = ProfileOptions(),
    *,
    on_row: Callable[[int, CostRow], None] | None = None,
    stop: threading.Event | None = None,
) -> list[CostRow]:
    """A row for every operator of the graph: measured where ONNX Runtime has it or its like, else estimated.

    `on_row` hears of every row with its place; after `stop` the rest is left out. Raises an `InputError` where sizes
    are unknown or ONNX Runtime is not installed.
    """
    refuse_unknown_sizes(graph)
    threads = 1 if options.processor_time else options.threads or os.cpu_count() or 1
    runtime = OnnxRuntime(runs=options.runs, threads=threads, processor_time=options.processor_time)
    measurement = _Measurement(graph, runtime)
    rows: list[CostRow] = []
    for operator in graph.operators:
        if stop is not None and stop.is_set():
            break
        timing, source = measurement.of(operator)
        row = CostRow(operator.name, device, timing.time_ns, spread_ns=timing.spread_ns, source=source)
        rows.append(row)
        if on_row is not None:
            on_row(len(rows), row)
    return rows


class _Measurement:
    """The recipes of a graph's operators, and the rates that stand in for those that have none."""

    def __init__(self, graph: TrainingGraph, runtime: OnnxRuntime) -> None:
        self._graph = graph
        self._runtime = runtime
        self._forward: dict[str, tuple[Timing, Work]] = {}

    def of(self, operator: TrainingOperator) -> tuple[Timing, str]:
        """The time of an operator and where it is from."""
        recipes = self._recipes(operator)
        timings = [self._runtime.time(recipe) for recipe in recipes]
        known = [timing for timing in timings if timing is not None]
        done = work(self._graph, operator)
        if recipes and len(known) == len(recipes):
            timing = Timing(sum(t.time_ns for t in known), sum(t.spread_ns for t in known))
            if operator.phase is Phase.FORWARD:
                self._forward[operator.name] = timing, done
            return timing, _measured(operator, recipes)
        return self._estimated(operator, done)

    def _recipes(self, operator: TrainingOperator) -> tuple[Recipe, ...]:
        graph, forward = self._graph, operator.forward
        if operator.phase is Phase.UPDATE:
            return self._update(operator)
        if forward is None:
            return _without_forward(graph, operator)
        recipe = forward_recipe(graph.network, forward, training=graph.training)
        if recipe is None or operator.phase is Phase.FORWARD:
            return () if recipe is None else (recipe,)
        written = shape_of(graph.network, forward.outputs[0]) or ()
        inputs, parameters = len(operator.input_gradients), len(operator.parameter_gradients)
        return backward_recipes(recipe, written, inputs=inputs, parameters=parameters)

    def _update(self, operator: TrainingOperator) -> tuple[Recipe, ...]:
        """The plainest update reads weights and gradients and writes weights; others have more to read and write."""
        if self._graph.optimizer != "sgd":
            return ()
        sizes = (self._graph.parameters[name].weight_bytes or 0 for name in operator.parameter_gradients)
        elements = sum(sizes) // 4
        return (of("Sub", (elements,), (elements,)),) if elements else ()

    def _estimated(self, operator: TrainingOperator, done: Work) -> tuple[Timing, str]:
        """A time by the measured forward's rate, or else by the rates of a sum and of a matrix product."""
        forward = self._forward.get(operator.forward.name) if operator.forward is not None else None
        if operator.phase is Phase.BACKWARD and forward is not None and operator.forward is not None:
            timing, before = forward
            by_flop = done.work_class != "vector"
            share = done.flop / max(1, before.flop) if by_flop else done.bytes_moved / max(1, before.bytes_moved)
            scaled = Timing(ceil(timing.time_ns * share), ceil(timing.spread_ns * share))
            return scaled, f"estimated from {operator.forward.name} by {'FLOP' if by_flop else 'bytes'}"
        return self._by_rates(done)

    def _by_rates(self, done: Work) -> tuple[Timing, str]:
        side, elements = _REFERENCE_ROWS, _REFERENCE_ELEMENTS
        product = self._runtime.time(of("MatMul", (side, side), (side, side)))
        total = self._runtime.time(of("Add", (elements,), (elements,)))
        by_bytes = _scaled(total, done.bytes_moved / (12 * elements))
        by_flop = _scaled(product, done.flop / (2 * side**3)) if done.work_class != "vector" else by_bytes
        best = max(by_bytes, by_flop, key=lambda timing: timing.time_ns)
        what = "a sum's rate of bytes" if best is by_bytes else "a matrix product's rate of FLOP"
        return best, f"estimated by {what}"


def _scaled(timing: Timing | None, share: float) -> Timing:
    return Timing(0, 0) if timing is None else Timing(ceil(timing.time_ns * share), ceil(timing.spread_ns * share))


def _without_forward(graph: TrainingGraph, operator: TrainingOperator) -> tuple[Recipe, ...]:
    """Losses and sums of gradients; a network input is loaded and not computed, so it has none."""

    def length(name: str) -> tuple[int]:
        return ((graph.tensors[name].size_bytes or 0) // 4,)

    if operator.kind == "GradientSum":
        shape = length(operator.outputs[0])
        return (of("Add", shape, shape),)
    if operator.phase is Phase.LOSS:
        shapes = [shape_of(graph.network, name) for name in operator.inputs]
        return tuple(of("LogSoftmax", shape) for shape in shapes if shape)
    if operator.phase is Phase.BACKWARD and operator.outputs:
        return (of("Exp", length(operator.outputs[0])),)
    return ()


def _measured(operator: TrainingOperator, recipes: tuple[Recipe, ...]) -> str:
    kinds = [recipe.kind for recipe in recipes]
    return "measured" if kinds == [operator.kind] else f"measured as {' and '.join(kinds)}"
