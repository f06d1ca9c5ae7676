"""One operator at a time in ONNX Runtime: a model is made of it, warmed up and timed."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from xengine_gui.errors import InputError
from xengine_gui.profile.recipes import Feed, Recipe

_OPSETS = ((21, 10), (23, 11), (17, 8))
"""Opsets with their versions of the format: the first in which the runtime takes an operator is the one."""
_TYPES: Mapping[str, tuple[int, type[np.generic]]] = {
    "float32": (TensorProto.FLOAT, np.float32),
    "float64": (TensorProto.DOUBLE, np.float64),
    "float16": (TensorProto.FLOAT16, np.float16),
    "bool": (TensorProto.BOOL, np.bool_),
    "int64": (TensorProto.INT64, np.int64),
    "int32": (TensorProto.INT32, np.int32),
    "int16": (TensorProto.INT16, np.int16),
    "int8": (TensorProto.INT8, np.int8),
    "uint8": (TensorProto.UINT8, np.uint8),
}
_SAMPLE_NS = 200_000
_WARM_NS = 10_000_000
_SLOW_NS = 200_000_000
"""What takes longer than this is warm after one run."""
_MOST_NS = 2_000_000_000
"""No further sample is begun of an operator whose samples have taken this long."""
_MOST_ELEMENTS = 2**29


@dataclass(frozen=True, slots=True)
class Timing:
    """The median of the samples of one run, and the distance between their quartiles."""

    time_ns: int
    spread_ns: int


class OnnxRuntime:
    """Runs recipes on this machine's processor; each is measured once.

    With `processor_time` the time that the only thread has the processor is counted instead of the wall clock, for a
    machine that has other work.
    """

    def __init__(self, *, runs: int, threads: int, processor_time: bool) -> None:
        try:
            import onnxruntime  # noqa: PLC0415 - an extra
        except ImportError:
            raise InputError("", "measuring needs ONNX Runtime: pip install 'xengine-gui[profile]'") from None
        self._runtime: Any = onnxruntime
        self._runtime.set_default_logger_severity(4)
        self._runs = runs
        self._clock: Callable[[], int] = time.thread_time_ns if processor_time else time.perf_counter_ns
        self._options: Any = onnxruntime.SessionOptions()
        self._options.intra_op_num_threads = threads
        self._options.inter_op_num_threads = 1
        self._options.log_severity_level = 4
        self._random = np.random.default_rng(0)
        self._known: dict[tuple[object, ...], Timing | None] = {}

    def time(self, recipe: Recipe) -> Timing | None:
        """What one run takes; `None` where the runtime cannot run it."""
        if recipe.key not in self._known:
            self._known[recipe.key] = self._measure(recipe)
        return self._known[recipe.key]

    def _measure(self, recipe: Recipe) -> Timing | None:
        if recipe.element_count > _MOST_ELEMENTS or any(feed.dtype not in _TYPES for feed in recipe.feeds):
            return None
        session = self._session(recipe)
        if session is None:
            return None
        values = {feed.name: self._values(feed) for feed in recipe.feeds}
        try:
            return self._timed(lambda: session.run(None, values))
        except Exception:  # noqa: BLE001 - the runtime has errors of many kinds for what it does not support
            return None

    def _session(self, recipe: Recipe) -> Any:
        for opset, form in _OPSETS:
            try:
                model = _model(recipe, opset, form)
                return self._runtime.InferenceSession(model, self._options, providers=["CPUExecutionProvider"])
            except Exception:  # noqa: BLE001, S112 - the next opset may do
                continue
        return None

    def _values(self, feed: Feed) -> Any:
        kind = _TYPES[feed.dtype][1]
        if feed.values is not None:
            return np.array(feed.values, dtype=kind).reshape(feed.shape)
        if np.issubdtype(kind, np.floating):
            return self._random.uniform(0.5, 1.5, feed.shape).astype(kind)
        return np.zeros(feed.shape, dtype=kind)

    def _timed(self, run: Callable[[], object]) -> Timing:
        once = self._once(run)
        warm, spent = 1, once
        while once < _SLOW_NS and (warm < 2 or (spent < _WARM_NS and warm < 50)):
            once = self._once(run)
            warm, spent = warm + 1, spent + once
        inner = max(1, _SAMPLE_NS // once)
        samples: list[float] = []
        begin = self._clock()
        while len(samples) < self._runs and (len(samples) < 2 or self._clock() - begin < _MOST_NS):
            start = self._clock()
            for _ in range(inner):
                run()
            samples.append((self._clock() - start) / inner)
        quarters = quantiles(samples, n=4, method="inclusive") if len(samples) > 1 else [samples[0]] * 3
        return Timing(round(median(samples)), round(quarters[2] - quarters[0]))

    def _once(self, run: Callable[[], object]) -> int:
        start = self._clock()
        run()
        return max(1, self._clock() - start)


def _model(recipe: Recipe, opset: int, form: int) -> bytes:
    outputs = [f"o{place}" for place in range(recipe.output_count)]
    attributes: Any = {n: list(value) if isinstance(value, tuple) else value for n, value in recipe.attributes.items()}
    node = helper.make_node(recipe.kind, list(recipe.slots), outputs, domain=recipe.domain, **attributes)
    feeds = [helper.make_tensor_value_info(f.name, _TYPES[f.dtype][0], f.shape) for f in recipe.feeds]
    # Shapes and types of results are the runtime's to infer.
    results = [helper.make_empty_tensor_value_info(name) for name in outputs]
    domains = [helper.make_opsetid("", opset)]
    if recipe.domain:
        domains.append(helper.make_opsetid(recipe.domain, 1))
    graph = helper.make_graph([node], "one", feeds, results)
    model: bytes = helper.make_model(graph, opset_imports=domains, ir_version=form).SerializeToString()
    return model
