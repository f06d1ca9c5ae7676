"""Predicted against measured: one training step of PyTorch on this processor beside a plan that retains everything.

    python tests/benchmarks/predicted_and_measured.py [--networks resnet18:8,lenet:256] [--rounds 3]

needs `torch` and `onnxruntime`. Each network is run operator by operator in PyTorch just as the file has it. Both
sides run on one thread and count its processor time. PyTorch's peak is of the storages that its operators make; its
ReLUs write over their inputs, as torchvision's do, but its ReLU6 does not: its backward reads the input, which would be
copied first. The least that would do is its output; the prediction is for a network that keeps what PyTorch keeps.
Memory that PyTorch frees stays with the process (`--give-back` leaves glibc its defaults): else the system zeroes new
pages in every step, which is no operator's time.
"""

import argparse
import ctypes
import gc
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import median

import torch
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from xengine_gui import planner
from xengine_gui.cost import DeviceChoice
from xengine_gui.cost.measured import CostTable
from xengine_gui.model.graph import GraphOperator, NetworkGraph
from xengine_gui.profile import ProfileOptions, profile
from xengine_gui.training import training_graph

Tensor = torch.Tensor
NETWORKS = "resnet18:32,resnet50:12,vgg16:4,mobilenet_v2:8,lenet:256"
STEPS = 3


@dataclass(frozen=True)
class Side:
    """Time and peak of one side."""

    time_ns: int
    peak_bytes: int


class Network(torch.nn.Module):
    """A network as its file has it, in PyTorch."""

    def __init__(self, network: NetworkGraph) -> None:
        super().__init__()
        self.network = network
        self.weights: dict[str, Tensor] = {}
        for name, parameter in network.parameters.items():
            if not parameter.dtype.startswith("float"):
                continue
            value = torch.empty(parameter.shape or ())
            fan = max(1, value.numel() // max(1, value.shape[0] if value.ndim else 1))
            torch.nn.init.normal_(value, std=fan**-0.5) if value.ndim > 1 else torch.nn.init.ones_(value)
            if parameter.trainable:
                value = torch.nn.Parameter(value)
            self.weights[name] = value
        last = {name: place for place, o in enumerate(network.operators) for name in (*o.inputs, *o.outputs)}
        self.ending: dict[int, list[str]] = {}
        for name, place in last.items():
            if name not in network.outputs:
                self.ending.setdefault(place, []).append(name)

    def trained(self) -> Iterator[Tensor]:
        """The weights that have gradients."""
        return (w for w in self.weights.values() if w.requires_grad)

    def forward(self, image: Tensor) -> Tensor:
        """The first output; whatever is read no more is let go."""
        values = {self.network.inputs[0]: image}
        del image
        for place, operator in enumerate(self.network.operators):
            read = [values[n] if n in values else self.weights.get(n) for n in operator.inputs if n]
            values[operator.outputs[0]] = RUN[operator.kind](operator, *read)
            del read
            for name in self.ending.get(place, ()):
                values.pop(name, None)
        return values[self.network.outputs[0]]


def _pair(operator: GraphOperator, name: str, default: int) -> tuple[int, ...]:
    value = operator.attributes.get(name)
    return tuple(value) if isinstance(value, tuple) else (default, default)


def _padding(operator: GraphOperator) -> tuple[int, ...]:
    pads = operator.attributes.get("pads", (0, 0, 0, 0))
    assert pads[:2] == pads[2:], f"{operator.name}: pads of two kinds"
    return tuple(pads[:2])


def _conv(o: GraphOperator, x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
    group = o.attributes.get("group", 1)
    return functional.conv2d(x, w, b, _pair(o, "strides", 1), _padding(o), _pair(o, "dilations", 1), group)


def _norm(_: GraphOperator, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    return functional.batch_norm(x, mean.detach(), var.detach(), scale, bias, training=True)


def _max_pool(o: GraphOperator, x: Tensor) -> Tensor:
    ceil = bool(o.attributes.get("ceil_mode", 0))
    return functional.max_pool2d(x, _pair(o, "kernel_shape", 1), _pair(o, "strides", 1), _padding(o), ceil_mode=ceil)


def _average_pool(o: GraphOperator, x: Tensor) -> Tensor:
    return functional.avg_pool2d(x, _pair(o, "kernel_shape", 1), _pair(o, "strides", 1), _padding(o))


def _gemm(o: GraphOperator, x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return functional.linear(x, w if o.attributes.get("transB") else w.t(), b)


RUN: dict[str, Callable[..., Tensor]] = {
    "Conv": _conv,
    "BatchNormalization": _norm,
    "Relu": lambda _, x: functional.relu(x, inplace=True),
    "Clip": lambda _, x, *_bounds: functional.relu6(x),
    "Tanh": lambda _, x: torch.tanh(x),
    "Add": lambda _, a, b: a + b,
    "Concat": lambda o, *parts: torch.cat(parts, dim=o.attributes.get("axis", 1)),
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": lambda _, x: x.mean((2, 3), keepdim=True),
    "Flatten": lambda _, x: x.flatten(1),
    "Dropout": lambda _, x, *_rest: functional.dropout(x, 0.5),
    "Gemm": _gemm,
}


def step(module: Network, optimizer: torch.optim.Optimizer, shape: tuple[int, ...], classes: int) -> None:
    """One training step."""
    image, labels = torch.rand(shape), torch.randint(0, classes, shape[:1])
    loss = functional.cross_entropy(module(image), labels)
    del image
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def measured(network: NetworkGraph) -> Side:
    """The median of some steps' processor time, and the peak of one step."""
    module, optimizer = _ready(network)
    times = []
    for number in range(STEPS + 1):
        start = time.process_time_ns()
        step(module, optimizer, *_shape_and_classes(network))
        times += [time.process_time_ns() - start] * (number > 0)
    del module, optimizer
    gc.collect()
    return Side(int(median(times)), training_step_peak_bytes(network))


def training_step_peak_bytes(network: NetworkGraph) -> int:
    """The most that tensors take at once in a first training step, weights among them."""
    with LiveTensors() as live:
        module, optimizer = _ready(network)
        step(module, optimizer, *_shape_and_classes(network))
    return live.peak_bytes


def _ready(network: NetworkGraph) -> tuple[Network, torch.optim.Optimizer]:
    module = Network(network)
    return module, torch.optim.SGD(module.trained(), lr=1e-4)


def _shape_and_classes(network: NetworkGraph) -> tuple[tuple[int, ...], int]:
    shape = network.tensors[network.inputs[0]].shape or ()
    return shape, (network.tensors[network.outputs[0]].shape or (1,))[-1]


class LiveTensors(TorchDispatchMode):
    """Counts the bytes of all storages that operators have made and that are still there."""

    def __init__(self) -> None:
        super().__init__()
        self.level_bytes = self.peak_bytes = 0
        self._known: set[int] = set()

    def __torch_dispatch__(
        self, function: Callable[..., object], types: object, arguments: tuple = (), named: dict | None = None
    ) -> object:
        """Run an operator and count what it has made."""
        made = function(*arguments, **(named or {}))
        tree_map_only(torch.Tensor, self._count, made)
        return made

    def _count(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if id(storage) not in self._known:
            self._known.add(id(storage))
            self.level_bytes += storage.nbytes()
            self.peak_bytes = max(self.peak_bytes, self.level_bytes)
            weakref.finalize(storage, self._gone, id(storage), storage.nbytes())
        return tensor

    def _gone(self, key: int, size_bytes: int) -> None:
        self._known.discard(key)
        self.level_bytes -= size_bytes


def as_in_pytorch(network: NetworkGraph) -> NetworkGraph:
    """The network with a ReLU6 whose backward reads its input, as that of PyTorch does."""
    operators = (
        replace(o, attributes={**o.attributes, "backward_reads": ("i0",)}) if o.kind == "Clip" else o
        for o in network.operators
    )
    return replace(network, operators=tuple(operators))


def keep_freed_memory() -> None:
    """Tell glibc never to give memory back, as allocators do that PyTorch's tuning guide names."""
    allocator = ctypes.CDLL(None)
    trim_threshold, most_mapped = -1, -4  # M_TRIM_THRESHOLD and M_MMAP_MAX of malloc.h
    assert allocator.mallopt(most_mapped, 0)
    assert allocator.mallopt(trim_threshold, 2**31 - 1)


def predicted(network: NetworkGraph) -> Side:
    """What a plan that retains everything says with the costs of a profile."""
    network = as_in_pytorch(network)
    options = ProfileOptions(runs=7, processor_time=True)
    rows = profile(training_graph(network), "cpu", options)
    problem = planner.make_problem(network, [DeviceChoice("cpu", "epyc-7763")])
    plan = planner.plan(CostTable("profile", tuple(rows)).over(problem), "retain-all")
    return Side(plan.total_ns or 0, plan.peak_bytes["cpu"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default=NETWORKS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--give-back", action="store_true", help="leave glibc its defaults")
    arguments = parser.parse_args()
    if not arguments.give_back:
        keep_freed_memory()
    torch.set_num_threads(1)
    print("| network, batch | predicted, ms | PyTorch, ms | apart | predicted peak, MiB | PyTorch's, MiB | apart |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    samples = {path.stem: path for path in planner.sample_networks()}
    for word in arguments.networks.split(","):
        name, batch = word.split(":")
        network = planner.open_file(samples[name], batch=int(batch))
        assert isinstance(network, NetworkGraph)
        # One after the other in turn, so that what else the machine does falls on both.
        rounds = [(predicted(network), measured(network)) for _ in range(arguments.rounds)]
        ours, theirs = (sorted(side, key=lambda s: s.time_ns)[len(side) // 2] for side in zip(*rounds, strict=True))
        cells = [f"{name}, {batch}", f"{ours.time_ns / 1e6:,.1f}", f"{theirs.time_ns / 1e6:,.1f}"]
        cells += [f"{ours.time_ns / theirs.time_ns - 1:+.0%}", f"{ours.peak_bytes / 2**20:,.1f}"]
        cells += [f"{theirs.peak_bytes / 2**20:,.1f}", f"{ours.peak_bytes / theirs.peak_bytes - 1:+.1%}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
