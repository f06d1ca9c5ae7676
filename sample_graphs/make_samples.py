"""Writes the sample networks and teaching toys beside this file: `python sample_graphs/make_samples.py [FOLDER]`.

Structure and shapes are those of the papers and of torchvision; there are no weights in the files.
"""  # noqa: INP001

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from onnx import ModelProto, TensorProto, helper
from sample_builder import Network
from sample_toys import write_toys

IMAGE = ("batch", 3, 224, 224)


def lenet() -> ModelProto:
    """LeNet-5: Y. LeCun et al., Gradient-based learning applied to document recognition, 1998."""
    n = Network("LeNet-5")
    x = n.input("image", ("batch", 1, 32, 32))
    x = n.node("Tanh", [n.conv(x, "c1", 1, 6, 5, pad=0, bias=True)], "tanh1")
    x = n.node("AveragePool", [x], "s2", kernel_shape=[2, 2], strides=[2, 2])
    x = n.node("Tanh", [n.conv(x, "c3", 6, 16, 5, pad=0, bias=True)], "tanh3")
    x = n.node("AveragePool", [x], "s4", kernel_shape=[2, 2], strides=[2, 2])
    x = n.node("Tanh", [n.conv(x, "c5", 16, 120, 5, pad=0, bias=True)], "tanh5")
    x = n.node("Tanh", [n.linear(n.node("Flatten", [x], "flatten"), "f6", 120, 84)], "tanh6")
    return n.model(n.linear(x, "output", 84, 10), ("batch", 10))


def vgg16() -> ModelProto:
    """VGG-16: K. Simonyan, A. Zisserman, Very deep convolutional networks for large-scale image recognition, 2015."""
    n = Network("VGG-16")
    x, channels = n.input("image", IMAGE), 3
    for block, (width, depth) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)), 1):
        for layer in range(1, depth + 1):
            x = n.relu(n.conv(x, f"conv{block}_{layer}", channels, width, 3, bias=True), f"relu{block}_{layer}")
            channels = width
        x = n.max_pool(x, f"pool{block}", 2, 2)
    x = n.node("Flatten", [x], "flatten")
    for layer, width in ((6, 512 * 49), (7, 4096)):
        x = n.relu(n.linear(x, f"fc{layer}", width, 4096), f"relu{layer}")
        x = n.node("Dropout", [x], f"dropout{layer}")
    return n.model(n.linear(x, "fc8", 4096, 1000), ("batch", 1000))


def _residual(n: Network, x: str, name: str, plan: tuple[tuple[int, int, int, int], ...], shortcut: bool) -> str:  # noqa: FBT001
    """A residual block; `plan` has input channels, output channels, kernel and stride of each convolution."""
    y = x
    for layer, (cin, cout, kernel, stride) in enumerate(plan, 1):
        y = n.batch_norm(n.conv(y, f"{name}.conv{layer}", cin, cout, kernel, stride=stride), f"{name}.bn{layer}", cout)
        if layer < len(plan):
            y = n.relu(y, f"{name}.relu{layer}")
    if shortcut:
        cin, cout, stride = plan[0][0], plan[-1][1], max(step[3] for step in plan)
        x = n.batch_norm(
            n.conv(x, f"{name}.downsample.conv", cin, cout, 1, stride=stride), f"{name}.downsample.bn", cout
        )
    return n.relu(n.node("Add", [y, x], f"{name}.add"), f"{name}.relu")


def _resnet(name: str, depths: tuple[int, ...], *, bottleneck: bool) -> ModelProto:
    n = Network(name)
    x = n.conv(n.input("image", IMAGE), "conv1", 3, 64, 7, stride=2)
    x = n.max_pool(n.relu(n.batch_norm(x, "bn1", 64), "relu1"), "maxpool", 3, 2, pad=1)
    channels = 64
    for stage, depth in enumerate(depths):
        width = 64 * 2**stage
        out = width * 4 if bottleneck else width
        for block in range(depth):
            stride = 2 if stage and block == 0 else 1
            if bottleneck:
                plan = ((channels, width, 1, 1), (width, width, 3, stride), (width, out, 1, 1))
            else:
                plan = ((channels, width, 3, stride), (width, width, 3, 1))  # type: ignore[assignment]
            x = _residual(n, x, f"layer{stage + 1}.{block}", plan, stride == 2 or channels != out)
            channels = out
    x = n.node("Flatten", [n.node("GlobalAveragePool", [x], "avgpool")], "flatten")
    return n.model(n.linear(x, "fc", channels, 1000), ("batch", 1000))


def resnet18() -> ModelProto:
    """ResNet-18: K. He et al., Deep residual learning for image recognition, 2016."""
    return _resnet("ResNet-18", (2, 2, 2, 2), bottleneck=False)


def resnet50() -> ModelProto:
    """ResNet-50, with the stride in the 3x3 convolution as torchvision has it."""
    return _resnet("ResNet-50", (3, 4, 6, 3), bottleneck=True)


def _unit(n: Network, x: str, name: str, cin: int, cout: int, kernel: int, stride: int = 1) -> str:
    x = n.conv(x, f"{name}.conv", cin, cout, kernel, stride=stride)
    return n.relu(n.batch_norm(x, f"{name}.bn", cout), f"{name}.relu")


def googlenet() -> ModelProto:
    """GoogLeNet as in torchvision (batch normalisation, no auxiliary heads): C. Szegedy et al., 2015."""
    n = Network("GoogLeNet")
    x = _unit(n, n.input("image", IMAGE), "conv1", 3, 64, 7, 2)
    x = n.max_pool(x, "pool1", 3, 2, ceil=True)
    x = _unit(n, _unit(n, x, "conv2", 64, 64, 1), "conv3", 64, 192, 3)
    x = n.max_pool(x, "pool2", 3, 2, ceil=True)
    table: dict[str, tuple[int, ...]] = {
        "3a": (192, 64, 96, 128, 16, 32, 32), "3b": (256, 128, 128, 192, 32, 96, 64),
        "4a": (480, 192, 96, 208, 16, 48, 64), "4b": (512, 160, 112, 224, 24, 64, 64),
        "4c": (512, 128, 128, 256, 24, 64, 64), "4d": (512, 112, 144, 288, 32, 64, 64),
        "4e": (528, 256, 160, 320, 32, 128, 128), "5a": (832, 256, 160, 320, 32, 128, 128),
        "5b": (832, 384, 192, 384, 48, 128, 128),
    }  # fmt: skip
    for name, (cin, one, reduce3, three, reduce5, five, pool) in table.items():
        block = f"inception{name}"
        branches = [
            _unit(n, x, f"{block}.branch1", cin, one, 1),
            _unit(n, _unit(n, x, f"{block}.branch2.0", cin, reduce3, 1), f"{block}.branch2.1", reduce3, three, 3),
            _unit(n, _unit(n, x, f"{block}.branch3.0", cin, reduce5, 1), f"{block}.branch3.1", reduce5, five, 3),
            _unit(n, n.max_pool(x, f"{block}.branch4.pool", 3, 1, pad=1), f"{block}.branch4", cin, pool, 1),
        ]
        x = n.node("Concat", branches, f"{block}.concat", axis=1)
        if name in ("3b", "4e"):
            x = n.max_pool(x, f"pool{name[0]}", 3 if name == "3b" else 2, 2, ceil=True)
    x = n.node("Flatten", [n.node("GlobalAveragePool", [x], "avgpool")], "flatten")
    return n.model(n.linear(n.node("Dropout", [x], "dropout"), "fc", 1024, 1000), ("batch", 1000))


def unet() -> ModelProto:
    """U-Net: O. Ronneberger et al., U-Net: convolutional networks for biomedical image segmentation, 2015."""
    n = Network("U-Net")
    x, size, channels = n.input("image", ("batch", 1, 572, 572)), 572, 1
    skips: list[tuple[str, int]] = []
    for level in range(5):
        width = 64 * 2**level
        for layer in (1, 2):
            x = n.conv(x, f"down{level}.conv{layer}", channels, width, 3, pad=0, bias=True)
            x, channels, size = n.relu(x, f"down{level}.relu{layer}"), width, size - 2
        if level < 4:
            skips.append((x, size))
            x, size = n.max_pool(x, f"down{level}.pool", 2, 2), size // 2
    for level in range(3, -1, -1):
        width, (skip, length) = 64 * 2**level, skips[level]
        weights = [n.weight(f"up{level}.weight", channels, width, 2, 2), n.weight(f"up{level}.bias", width)]
        x = n.node("ConvTranspose", [x, *weights], f"up{level}", kernel_shape=[2, 2], strides=[2, 2])
        size *= 2
        start = (length - size) // 2
        crop = [n.ints([start, start]), n.ints([start + size, start + size]), n.ints([2, 3])]
        skip = n.node("Slice", [skip, *crop], f"up{level}.crop")
        x, channels = n.node("Concat", [skip, x], f"up{level}.concat", axis=1), 2 * width
        for layer in (1, 2):
            x = n.conv(x, f"up{level}.conv{layer}", channels, width, 3, pad=0, bias=True)
            x, channels, size = n.relu(x, f"up{level}.relu{layer}"), width, size - 2
    return n.model(n.conv(x, "output", 64, 2, 1, bias=True), ("batch", 2, size, size))


def mobilenet_v2() -> ModelProto:
    """MobileNetV2: M. Sandler et al., MobileNetV2: inverted residuals and linear bottlenecks, 2018."""
    n = Network("MobileNetV2")
    bounds = [n.scalar(0.0), n.scalar(6.0)]

    def unit(x: str, name: str, cin: int, cout: int, kernel: int, **options: Any) -> str:
        x = n.batch_norm(n.conv(x, f"{name}.conv", cin, cout, kernel, **options), f"{name}.bn", cout)
        return n.node("Clip", [x, *bounds], f"{name}.relu6")

    x, channels = unit(n.input("image", IMAGE), "stem", 3, 32, 3, stride=2), 32
    plan = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for stage, (factor, width, depth, first_stride) in enumerate(plan, 1):
        for block in range(depth):
            name, stride, inner = f"block{stage}.{block}", first_stride if block == 0 else 1, channels * factor
            y = x if factor == 1 else unit(x, f"{name}.expand", channels, inner, 1)
            y = unit(y, f"{name}.depthwise", inner, inner, 3, stride=stride, group=inner)
            y = n.batch_norm(n.conv(y, f"{name}.project.conv", inner, width, 1), f"{name}.project.bn", width)
            x = n.node("Add", [x, y], f"{name}.add") if stride == 1 and channels == width else y
            channels = width
    x = n.node("GlobalAveragePool", [unit(x, "head", 320, 1280, 1)], "avgpool")
    x = n.node("Dropout", [n.node("Flatten", [x], "flatten")], "dropout")
    return n.model(n.linear(x, "classifier", 1280, 1000), ("batch", 1000))


def bert_base() -> ModelProto:
    """BERT-base with its pooler: J. Devlin et al., BERT: pre-training of deep bidirectional transformers, 2019."""
    n, width, length = Network("BERT-base"), 768, 128
    tables = (("input_ids", ("batch", length), "word", 30522), ("token_type_ids", ("batch", length), "token_type", 2),
              ("position_ids", (1, length), "position", 512))  # fmt: skip
    parts = []
    for ids, shape, name, rows in tables:
        source = n.input(ids, shape, TensorProto.INT64)
        table = n.weight(f"embeddings.{name}.weight", rows, width)
        parts.append(n.node("Gather", [table, source], f"embeddings.{name}"))
    x = n.node("Add", [n.node("Add", parts[:2], "embeddings.add1"), parts[2]], "embeddings.add2")
    x = n.layer_norm(x, "embeddings.norm", width)
    mask = n.input("attention_mask", ("batch", length), TensorProto.INT64)
    mask = n.node("Unsqueeze", [mask, n.ints([1, 2])], "mask.unsqueeze")
    mask = n.node("Sub", [n.scalar(1.0), n.node("Cast", [mask], "mask.cast", to=TensorProto.FLOAT)], "mask.sub")
    mask = n.node("Mul", [mask, n.scalar(-10000.0)], "mask.mul")
    for layer in range(12):
        name = f"layer{layer}"
        y = n.attention(x, f"{name}.attention", width, 12, {"add": mask})
        x = n.layer_norm(n.node("Add", [x, y], f"{name}.add1"), f"{name}.norm1", width)
        y = n.node("Gelu", [n.projection(x, f"{name}.intermediate", width, 4 * width)], f"{name}.gelu")
        y = n.projection(y, f"{name}.output", 4 * width, width)
        x = n.layer_norm(n.node("Add", [x, y], f"{name}.add2"), f"{name}.norm2", width)
    first = n.node("Slice", [x, n.ints([0]), n.ints([1]), n.ints([1])], "pooler.first")
    first = n.node("Squeeze", [first, n.ints([1])], "pooler.squeeze")
    return n.model(n.node("Tanh", [n.linear(first, "pooler", width, width)], "pooler.tanh"), ("batch", width))


def gpt2_small() -> ModelProto:
    """GPT-2 small with its tied head: A. Radford et al., Language models are unsupervised multitask learners, 2019."""
    n, width, length, words = Network("GPT-2 small"), 768, 1024, 50257
    ids = n.input("input_ids", ("batch", length), TensorProto.INT64)
    places = n.input("position_ids", (1, length), TensorProto.INT64)
    table = n.weight("wte.weight", words, width)
    x = n.node("Gather", [table, ids], "wte")
    x = n.node("Add", [x, n.node("Gather", [n.weight("wpe.weight", 1024, width), places], "wpe")], "embeddings.add")
    ones = helper.make_tensor("true", TensorProto.BOOL, [1], [True])
    mask = n.node("ConstantOfShape", [n.ints([1, 1, length, length])], "causal.ones", value=ones)
    mask = n.node("Trilu", [mask], "causal.mask", upper=0)
    for layer in range(12):
        name = f"h{layer}"
        y = n.attention(n.layer_norm(x, f"{name}.ln_1", width), f"{name}.attn", width, 12, {"where": mask})
        x = n.node("Add", [x, y], f"{name}.add1")
        y = n.projection(n.layer_norm(x, f"{name}.ln_2", width), f"{name}.mlp.c_fc", width, 4 * width)
        y = n.node("Gelu", [y], f"{name}.mlp.gelu", approximate="tanh")
        x = n.node("Add", [x, n.projection(y, f"{name}.mlp.c_proj", 4 * width, width)], f"{name}.add2")
    rows = n.reshape(n.layer_norm(x, "ln_f", width), "rows", [-1, width])
    logits = n.node("Gemm", [rows, table], "lm_head", transB=1)
    return n.model(n.reshape(logits, "logits", [-1, length, words]), ("batch", length, words))


NETWORKS: Mapping[str, Callable[[], ModelProto]] = {
    "lenet": lenet,
    "vgg16": vgg16,
    "resnet18": resnet18,
    "resnet50": resnet50,
    "googlenet": googlenet,
    "unet": unet,
    "mobilenet_v2": mobilenet_v2,
    "bert_base": bert_base,
    "gpt2_small": gpt2_small,
}


def main(folder: Path) -> None:
    """Write every sample into `folder`."""
    for name, make in NETWORKS.items():
        (folder / f"{name}.onnx").write_bytes(make().SerializeToString(deterministic=True))
    write_toys(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
