"""What is run to time an operator has its arithmetic, and the runtime can run it."""

from math import prod
from pathlib import Path

import pytest
from recorded_modules import Recorded, recorded

from xengine_gui.importers import read_network
from xengine_gui.model.graph import GraphOperator, GraphParameter, GraphTensor, NetworkGraph
from xengine_gui.paths import sample_graphs
from xengine_gui.profile.recipes import Recipe, backward_recipes, forward_recipe, shape_of
from xengine_gui.training import training_graph

Shape = tuple[int, ...]


def one(kind: str, read: list[Shape], written: Shape, **attributes: int | float | str | Shape) -> NetworkGraph:
    """A network of one operator; its second input is a parameter."""
    tensors = {"y": GraphTensor("y", written, "float32", 4 * prod(written), "y")}
    parameters = {}
    for place, shape in enumerate(read):
        name = f"i{place}"
        if place == 1:
            parameters[name] = GraphParameter(name, shape, "float32", 4 * prod(shape), name, trainable=True)
        else:
            tensors[name] = GraphTensor(name, shape, "float32", 4 * prod(shape), name)
    names = tuple(f"i{place}" for place in range(len(read)))
    operator = GraphOperator("o", kind, names, ("y",), tuple(parameters), attributes=attributes)
    return NetworkGraph("n", (operator,), tensors, parameters, ("i0",), ("y",))


def recipe(network: NetworkGraph) -> Recipe:
    made = forward_recipe(network, network.operators[0], training=True)
    assert made is not None
    return made


def shapes(recipes: tuple[Recipe, ...]) -> list[tuple[str, list[Shape]]]:
    return [(r.kind, [feed.shape for feed in r.feeds]) for r in recipes]


@pytest.mark.parametrize(
    ("image", "weights", "written", "attributes", "kind"),
    [
        ((2, 3, 9, 9), (5, 3, 3, 3), (2, 5, 9, 9), {"pads": (1, 1, 1, 1)}, "Conv"),
        ((2, 4, 9, 9), (4, 1, 3, 3), (2, 4, 9, 9), {"pads": (1, 1, 1, 1), "group": 4}, "Conv"),
        ((2, 3, 9, 9), (5, 3, 3, 3), (2, 5, 5, 5), {"pads": (1, 1, 1, 1), "strides": (2, 2)}, "ConvTranspose"),
        ((2, 3, 8, 9), (5, 3, 3, 3), (2, 5, 4, 5), {"pads": (1, 1, 1, 1), "strides": (2, 2)}, "ConvTranspose"),
        ((2, 3, 9), (5, 3, 3), (2, 5, 7), {}, "Conv"),
        ((2, 3, 9), (5, 3, 3), (2, 5, 5), {"dilations": (2,)}, "ConvTranspose"),
        ((2, 3, 8, 8), (5, 3, 3, 3), (2, 5, 8, 8), {"auto_pad": "SAME_UPPER"}, "Conv"),
    ],
)  # fmt: skip
def test_the_gradient_of_a_convolution_gives_back_the_image(
    image: Shape, weights: Shape, written: Shape, attributes: dict, kind: str
) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    from xengine_gui.profile.onnx_runtime import _model  # noqa: PLC0415

    network = one("Conv", [image, weights], written, **attributes)
    back, again = backward_recipes(recipe(network), written, inputs=1, parameters=1)
    assert back.kind == kind
    assert back.feeds[0].shape == written
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    for made, shape in ((back, image), (again, written)):
        session = onnxruntime.InferenceSession(_model(made, 21, 10), options, providers=["CPUExecutionProvider"])
        assert tuple(session.get_outputs()[0].shape) == shape


def test_the_gradients_of_products_are_products() -> None:
    gemm = recipe(one("Gemm", [(7, 3), (5, 3)], (7, 5), transB=1))
    assert shapes(backward_recipes(gemm, (7, 5), inputs=1, parameters=1)) == [
        ("Gemm", [(7, 5), (5, 3)]),
        ("Gemm", [(7, 5), (7, 3)]),
    ]
    many = recipe(one("MatMul", [(2, 4, 7, 3), (2, 4, 3, 5)], (2, 4, 7, 5)))
    assert shapes(backward_recipes(many, (2, 4, 7, 5), inputs=2, parameters=0)) == [
        ("MatMul", [(2, 4, 7, 5), (2, 4, 5, 3)]),
        ("MatMul", [(2, 4, 3, 7), (2, 4, 7, 5)]),
    ]
    rows = recipe(one("MatMul", [(2, 7, 3), (3, 5)], (2, 7, 5)))
    assert shapes(backward_recipes(rows, (2, 7, 5), inputs=0, parameters=1)) == [("Gemm", [(14, 5), (14, 3)])]


@pytest.mark.parametrize(
    ("kind", "read", "written", "attributes", "values"),
    [
        ("ReduceMean", (2, 3, 4), (2, 1, 4), {"keepdims": 1}, (1,)),
        ("ReduceMean", (2, 3, 4), (2, 4), {"keepdims": 0}, (1,)),
        ("ReduceSum", (2, 3, 4), (3,), {"keepdims": 0, "axes": (0, 2)}, (0, 2)),
        ("Expand", (1, 4), (3, 4), {}, (3, 4)),
        ("Tile", (2, 4), (4, 12), {}, (2, 3)),
        ("Pad", (2, 4), (2, 6), {"mode": "constant"}, (0, 0, 0, 2)),
        ("Upsample", (1, 2, 4, 4), (1, 2, 8, 8), {"mode": "nearest"}, (1, 2, 8, 8)),
    ],
)
def test_inputs_that_hold_shapes_or_axes_have_their_values(
    kind: str, read: Shape, written: Shape, attributes: dict, values: tuple[int, ...]
) -> None:
    assert recipe(one(kind, [read], written, **attributes)).feeds[-1].values == values


def test_equal_operators_are_one_recipe() -> None:
    network = read_network(sample_graphs() / "resnet18.onnx")
    convolutions = [o for o in network.operators if o.kind == "Conv"]
    keys = {forward_recipe(network, o, training=True).key for o in convolutions}  # type: ignore[union-attr]
    assert 5 < len(keys) < len(convolutions)


@pytest.mark.parametrize("path", sorted(sample_graphs().glob("*.onnx")), ids=lambda path: path.stem)
def test_every_operator_of_the_samples_has_a_recipe(path: Path) -> None:
    network = read_network(path)
    for operator in network.operators:
        made = forward_recipe(network, operator, training=True)
        assert made is not None, operator.name
        assert shape_of(network, operator.outputs[0]) is not None


def test_the_gradients_of_pools() -> None:
    """A mean's goes over every element of each window, a maximum's over one of them."""
    image, written = (2, 3, 8, 8), (2, 3, 4, 4)
    mean = recipe(one("AveragePool", [image], written, kernel_shape=(2, 2), strides=(2, 2)))
    assert backward_recipes(mean, written, inputs=1, parameters=0) == (mean,)
    most = recipe(one("MaxPool", [image], written, kernel_shape=(2, 2), strides=(2, 2)))
    assert shapes(backward_recipes(most, written, inputs=1, parameters=0)) == [("Add", [image, image])]


@pytest.mark.parametrize("row", recorded("modules"), ids=lambda row: row.title)
def test_every_operator_of_a_pytorch_module_has_a_recipe(row: Recorded) -> None:
    graph = training_graph(row.network)
    for operator in graph.operators:
        if operator.forward is not None and operator.forward.known:
            made = forward_recipe(row.network, operator.forward, training=True)
            written = shape_of(row.network, operator.forward.outputs[0])
            assert made is not None or operator.kind == "Range"
            assert written is not None
            if made is not None:
                assert "backward_reads" not in made.attributes
                backward_recipes(made, written, inputs=1, parameters=1)


def test_windows_and_axes_of_a_pytorch_module_are_kept() -> None:
    bottleneck = recorded("modules")[0].network
    strided = [o for o in bottleneck.operators if o.kind == "Conv" and o.attributes["strides"] == (2, 2)]
    assert len(strided) == 2
    for operator in strided:
        read, wrote = (bottleneck.tensors[name].shape for name in (operator.inputs[0], operator.outputs[0]))
        assert read is not None
        assert wrote is not None
        assert read[2] == 2 * wrote[2]
    assert {o.attributes["pads"] for o in bottleneck.operators if o.kind == "Conv"} == {(0,) * 4, (1,) * 4}
