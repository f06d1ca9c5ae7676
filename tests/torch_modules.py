"""PyTorch modules whose saved tensors are compared, and how. Loaded only where PyTorch is installed.

`PYTHONPATH=tests python tests/torch_modules.py` prints the table of the README; with `--record` it also writes down
what PyTorch keeps, for the tests that have none.
"""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F  # noqa: N812
from recorded_modules import FILE, Recorded, saved_by_graph, table_line, text_of
from torch import nn

from xengine_gui.importers.torch_format.network import network_of
from xengine_gui.model.graph import NetworkGraph
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


def network_by_export(module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> NetworkGraph:
    """A module by way of `torch.export`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = network_of(torch.export.export(module, inputs), name="recorded")
        return replace(network, notes=())


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


IMAGE = (2, 8, 16, 16)
FUNCTIONS = {
    "relu": F.relu,
    "relu in place": lambda x: F.relu(x * 1, inplace=True),
    "leaky_relu": F.leaky_relu,
    "leaky_relu in place": lambda x: F.leaky_relu(x * 1, inplace=True),
    "elu in place": lambda x: F.elu(x * 1, inplace=True),
    "relu6 in place": lambda x: F.relu6(x * 1, inplace=True),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "gelu": F.gelu,
    "erf": torch.erf,
    "silu": F.silu,
    "mish": F.mish,
    "hardswish": F.hardswish,
    "softplus": F.softplus,
    "softsign": F.softsign,
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "clamp": lambda x: x.clamp(0, 1),
    "glu": lambda x: F.glu(x, 1),
    "pow": lambda x: x**3,
    "mul": lambda x: x * x.exp(),
    "div": lambda x: x / (x + 1),
    "sub": lambda x: x - x * 2,
    "sqrt": torch.sqrt,
    "neg": torch.neg,
    "where": lambda x: torch.where(x > 0, x, 0.0),
    "masked_fill": lambda x: x.masked_fill(x > 0, 0.0),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, 1),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "mean over all": lambda x: F.adaptive_avg_pool2d(x, 1),
    "sum": lambda x: x.sum(-1),
    "max of an axis": lambda x: x.max(-1)[0],
    "amax": lambda x: x.amax(-1),
    "norm": lambda x: x.norm(dim=-1),
    "logsumexp": lambda x: x.logsumexp(-1),
    "var": lambda x: x.var(-1),
    "cumsum": lambda x: x.cumsum(-1),
    "interpolate": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "pad": lambda x: F.pad(x, (1, 1)),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
    "grid_sample": lambda x: F.grid_sample(x, torch.zeros(2, 4, 4, 2), align_corners=False),
    "layer_norm": lambda x: F.layer_norm(x, (16,)),
    "group_norm": lambda x: F.group_norm(x, 2),
    "instance_norm": F.instance_norm,
    "rms_norm": lambda x: F.rms_norm(x, (16,)),
    "matmul": lambda x: x @ x.transpose(-1, -2),
    "bmm": lambda x: x.flatten(0, 1).bmm(x.flatten(0, 1)),
    "einsum": lambda x: torch.einsum("bchw,bcvw->bchv", x, x),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
    "slice": lambda x: x[:, 1:3].exp(),
    "chunk": lambda x: x.chunk(2, 1)[0].tanh(),
    "cat": lambda x: torch.cat([x, x], 1).tanh(),
    "permute and copy": lambda x: x.permute(0, 2, 3, 1).contiguous().exp(),
    "index_select": lambda x: x.index_select(1, torch.tensor([0, 1])),
    "gather": lambda x: x.gather(1, torch.zeros(IMAGE, dtype=torch.long)),
    "topk": lambda x: x.topk(2)[0],
    "cross_entropy": lambda x: F.cross_entropy(x, torch.zeros(2, 16, 16, dtype=torch.long)),
    "mse_loss": lambda x: F.mse_loss(x, torch.zeros_like(x)),
}


class Shifted(nn.Module):
    """A function of the input plus a parameter, so that a gradient flows."""

    def __init__(self, function) -> None:
        super().__init__()
        self.function, self.shift = function, nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return self.function(x + self.shift)


def modules_now() -> list[Recorded]:
    """The rows of the README's table, with what this PyTorch keeps."""
    rows = []
    for row in ROWS:
        torch.manual_seed(0)
        module, inputs = row.module(), (row.inputs(),)
        with torch.backends.mkldnn.flags(enabled=row.fused):
            by_torch = saved_by_torch(module, inputs)
        rows.append(Recorded(row.title, by_torch, network_by_export(module, inputs), row.why))
    return rows


def kinds_now() -> list[Recorded]:
    """The same of single kinds of operators."""
    rows = []
    for name, function in FUNCTIONS.items():
        module, inputs = Shifted(function), (torch.randn(IMAGE),)
        rows.append(Recorded(name, saved_by_torch(module, inputs), network_by_export(module, inputs)))
    return rows


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    modules = modules_now()
    if "--record" in sys.argv:
        pytorch = torch.__version__.partition("+")[0]
        FILE.write_text(text_of(pytorch, {"modules": modules, "kinds": kinds_now()}), encoding="utf-8")
    lines = ["| module | PyTorch, bytes | here, bytes | differs by | why |", "| --- | --- | --- | --- | --- |"]
    lines += (
        table_line(row.title, row.pytorch_bytes, saved_by_graph(training_graph(row.network)), row.why)
        for row in modules
    )
    sys.stdout.write("\n".join(lines) + "\n")
