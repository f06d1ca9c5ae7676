"""What training graphs keep for the backward, against what PyTorch's autograd keeps. Skipped without PyTorch."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402, N812
from torch import nn  # noqa: E402
from torch_modules import ROWS, graph_of, saved_by_graph, saved_by_torch, saved_of, table_lines  # noqa: E402

README = Path(__file__).resolve().parents[2] / "README.md"


# PyTorch warns of its own ways.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("row", [row for row in ROWS if not row.why], ids=lambda row: row.title)
def test_modules_keep_what_autograd_keeps(row) -> None:
    by_torch, here = saved_of(row)
    assert here == pytest.approx(by_torch, rel=0.01)


def test_the_table_of_the_readme_is_what_is_measured() -> None:
    readme = README.read_text(encoding="utf-8")
    for line in table_lines():
        assert line in readme, "PYTHONPATH=tests python tests/torch_modules.py prints the table anew"


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


@pytest.mark.parametrize("name", FUNCTIONS)
def test_kinds_keep_what_autograd_keeps(name: str) -> None:
    module, inputs = Shifted(FUNCTIONS[name]), (torch.randn(IMAGE),)
    graph = graph_of(module, inputs)
    assert all(operator.known for operator in graph.network.operators)
    assert saved_by_graph(graph) == pytest.approx(saved_by_torch(module, inputs), rel=0.01)
