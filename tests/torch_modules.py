"""PyTorch modules whose saved tensors are compared, and how. Loaded only where PyTorch is installed."""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from xengine_gui.importers.torch_format.network import network_of
from xengine_gui.model.graph import TrainingGraph
from xengine_gui.model.operator import Phase
from xengine_gui.training import training_graph


def saved_by_torch(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> int:
    """Bytes of all storages that autograd holds after a forward, those of parameters and buffers left out."""
    kept: dict[int, torch.UntypedStorage] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept.setdefault(storage.data_ptr(), storage)
        return tensor

    own = {value.untyped_storage().data_ptr() for value in (*module.parameters(), *module.buffers())}
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = module(*inputs)
    size = sum(storage.nbytes() for place, storage in kept.items() if place not in own)
    del result
    return size


def saved_by_graph(graph: TrainingGraph) -> int:
    """Bytes of all tensors of the forward that a backward reads; what the loss reads is the loss's."""
    forward = {name for o in graph.operators if o.phase is Phase.FORWARD for name in o.outputs}
    read = {name for o in graph.operators if o.phase is Phase.BACKWARD and o.forward for name in o.inputs}
    return sum(graph.tensors[name].size_bytes or 0 for name in forward & read)


def graph_of(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> TrainingGraph:
    """The training step of a module by way of `torch.export`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return training_graph(network_of(torch.export.export(module, inputs), name=type(module).__name__))


class ResNetBlock(nn.Module):
    """The bottleneck of ResNet-50 with its projection."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(width, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.norm2 = nn.Conv2d(width, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.norm3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.skip = nn.Sequential(nn.Conv2d(width, 4 * width, 1, 2, bias=False), nn.BatchNorm2d(4 * width))
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu(self.norm1(self.conv1(x)))
        y = self.relu(self.norm2(self.conv2(y)))
        y = self.norm3(self.conv3(y))
        y += self.skip(x)
        return self.relu(y)


class UNetBlock(nn.Module):
    """A level of a U-Net: down, up by a transposed convolution, and the two joined."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.first = self._pair(3, width)
        self.pool = nn.MaxPool2d(2)
        self.below = self._pair(width, 2 * width)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.last = self._pair(2 * width, width)

    @staticmethod
    def _pair(before: int, after: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(),
            nn.Conv2d(after, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.first(x)
        b = self.up(self.below(self.pool(a)))
        return self.last(torch.cat([a, b], 1))


class MobileNetBlock(nn.Module):
    """The inverted residual of MobileNetV2, with ReLU6 in place as in torchvision."""

    def __init__(self, width: int = 24, *, in_place: bool = True) -> None:
        super().__init__()
        wide = 6 * width
        self.body = nn.Sequential(
            nn.Conv2d(width, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(inplace=in_place),
            nn.Conv2d(wide, wide, 3, padding=1, groups=wide, bias=False), nn.BatchNorm2d(wide),
            nn.ReLU6(inplace=in_place), nn.Conv2d(wide, width, 1, bias=False), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x)


class SqueezeExcite(nn.Module):
    """A block of EfficientNet: SiLU, and channels weighed by what their mean says."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(width, width, 3, padding=1, groups=width), nn.GroupNorm(4, width)
        self.less, self.more = nn.Conv2d(width, width // 4, 1), nn.Conv2d(width // 4, width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = nn.functional.silu(self.norm(self.conv(x)))
        scale = self.more(nn.functional.silu(self.less(y.mean((2, 3), keepdim=True))))
        return y * scale.sigmoid()


class Attention(nn.Module):
    """A causal transformer block as in GPT-2: softmax written out, GELU, both residuals, embeddings before it."""

    def __init__(self, width: int = 64, heads: int = 4, words: int = 100) -> None:
        super().__init__()
        self.heads = heads
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(32, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        batch, length = words.shape
        x = self.words(words) + self.places(torch.arange(length))
        q, k, v = (
            part.reshape(batch, length, self.heads, -1).transpose(1, 2) for part in self.mix(self.norm1(x)).chunk(3, -1)
        )
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        y = scores.masked_fill(~mask, -1e9).softmax(-1) @ v
        x = x + self.project(y.transpose(1, 2).reshape(batch, length, -1))
        return x + self.narrow(nn.functional.gelu(self.wide(self.norm2(x))))


class Recurrent(nn.Module):
    """A recurrent layer or two, with only the sequence handed on."""

    def __init__(self, kind: str = "LSTM", **how: object) -> None:
        super().__init__()
        self.layer = getattr(nn, kind)(32, 64, batch_first=True, **how)
        self.head = nn.Linear(64 * (2 if how.get("bidirectional") else 1), 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer(x)[0])


def transformer_layer(dropout: float = 0.0) -> nn.Module:
    """PyTorch's own encoder layer, whose attention is one fused operator."""
    return nn.TransformerEncoderLayer(64, 4, 256, dropout=dropout, batch_first=True)


@dataclass(frozen=True)
class Row:
    """A module of the table, its input, whether oneDNN's fused kernels run, and why the figures differ."""

    title: str
    module: Callable[[], nn.Module]
    inputs: Callable[[], torch.Tensor]
    fused: bool = False
    why: str = ""


def _random(*shape: int) -> Callable[[], torch.Tensor]:
    return lambda: torch.randn(shape)


_SEQUENCE = _random(4, 20, 32)
ROWS = (
    Row("ResNet-50 bottleneck with projection", ResNetBlock, _random(4, 64, 16, 16)),
    Row("U-Net level (max pool, transposed convolution, concat)", UNetBlock, _random(2, 3, 32, 32)),
    Row("MobileNetV2 inverted residual", MobileNetBlock, _random(2, 24, 16, 16)),
    Row("squeeze-and-excitation, group norm, SiLU", SqueezeExcite, _random(2, 32, 16, 16)),
    Row("GPT-2 block with embeddings, softmax written out", Attention, lambda: torch.randint(100, (2, 32))),
    Row("nn.TransformerEncoderLayer, fused attention", transformer_layer, _random(2, 32, 64)),
    Row(
        "the same with dropout 0.1",
        lambda: transformer_layer(0.1),
        _random(2, 32, 64),
        why="on a CPU PyTorch's masks are floats (here a byte an element, as on a GPU) and attention is not fused",
    ),
    Row("nn.LSTM and a linear layer", Recurrent, _SEQUENCE),
    Row("nn.GRU and a linear layer", lambda: Recurrent("GRU"), _SEQUENCE),
    Row(
        "nn.RNN and a linear layer",
        lambda: Recurrent("RNN"),
        _SEQUENCE,
        why="the first state, which is zeros, is kept too",
    ),
    Row(
        "nn.LSTM, two layers in both directions",
        lambda: Recurrent(num_layers=2, bidirectional=True),
        _SEQUENCE,
        why="the input is kept once more, reversed",
    ),
    Row(
        "nn.LSTM by oneDNN",
        Recurrent,
        _SEQUENCE,
        fused=True,
        why="oneDNN's workspace is larger than what PyTorch's own kernels keep",
    ),
)


def saved_of(row: Row) -> tuple[int, int]:
    """Bytes that PyTorch keeps and that our training graph keeps for the backward of a row's module."""
    module, inputs = row.module(), (row.inputs(),)
    with torch.backends.mkldnn.flags(enabled=row.fused):
        by_torch = saved_by_torch(module, inputs)
    return by_torch, saved_by_graph(graph_of(module, inputs))


def table_lines() -> list[str]:
    """The table of the README."""
    lines = ["| module | PyTorch, bytes | here, bytes | differs by | why |", "| --- | --- | --- | --- | --- |"]
    for row in ROWS:
        by_torch, here = saved_of(row)
        lines.append(f"| {row.title} | {by_torch:,} | {here:,} | {here / by_torch - 1:+.1%} | {row.why or 'equal'} |")
    return [line.replace("%", " %").replace("+0.0 %", "0") for line in lines]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write("\n".join(table_lines()) + "\n")
