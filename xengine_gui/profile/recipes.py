"""What is run to time an operator: small graphs of standard operators with inputs of the right shapes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import prod

from xengine_gui.model.graph import Attribute, GraphOperator, NetworkGraph
from xengine_gui.profile.arguments import arranged

Shape = tuple[int, ...]
Values = tuple[int, ...] | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Feed:
    """One input: its shape and type, and its values where they matter (else random floats, zeros for whole numbers)."""

    name: str
    shape: Shape
    dtype: str = "float32"
    values: Values | None = None


@dataclass(frozen=True)
class Recipe:
    """One operator to run with what it is fed; two recipes that are equal take the same time."""

    kind: str
    feeds: tuple[Feed, ...]
    slots: tuple[str, ...]
    output_count: int = 1
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    domain: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What tells recipes apart."""
        attributes = tuple(sorted(self.attributes.items()))
        return self.kind, self.domain, self.feeds, self.slots, self.output_count, attributes

    @property
    def element_count(self) -> int:
        """Elements of all inputs together."""
        return sum(prod(feed.shape) for feed in self.feeds)


def of(kind: str, *shapes: Shape, **attributes: Attribute) -> Recipe:
    """A recipe of a kind that reads single-precision tensors of these shapes."""
    feeds = tuple(Feed(f"i{place}", shape) for place, shape in enumerate(shapes))
    return Recipe(kind, feeds, tuple(feed.name for feed in feeds), attributes=attributes)


def forward_recipe(network: NetworkGraph, operator: GraphOperator, *, training: bool) -> Recipe | None:
    """The operator itself with random inputs; `None` where a shape is unknown or it has sub-graphs."""
    shapes = [shape_of(network, name) for name in operator.inputs]
    if operator.captures or any(shape is None for name, shape in zip(operator.inputs, shapes, strict=True) if name):
        return None
    feeds: dict[str, Feed] = {}
    slots: list[str] = []
    for name, shape in zip(operator.inputs, shapes, strict=True):
        if name and name not in feeds:
            feeds[name] = Feed(f"i{len(feeds)}", shape or (), _dtype(network, name))
        slots.append(feeds[name].name if name else "")
    outputs = list(operator.outputs)
    while outputs and not outputs[-1]:
        outputs.pop()
    plain = Recipe(
        operator.kind, tuple(feeds.values()), tuple(slots), len(outputs), dict(operator.attributes), operator.domain
    )
    written = tuple(shape_of(network, name) or () for name in outputs)
    return arranged(plain, written, training=training)


def shape_of(network: NetworkGraph, name: str) -> Shape | None:
    """The shape of a tensor or parameter, `None` where it is unknown."""
    item = network.tensors.get(name) or network.parameters.get(name)
    return None if item is None else item.shape


def _dtype(network: NetworkGraph, name: str) -> str:
    item = network.tensors.get(name) or network.parameters.get(name)
    return "float32" if item is None else item.dtype


@dataclass(frozen=True, slots=True)
class Wanted:
    """How often each gradient is computed: that of the first input, and that of the second or of the parameters."""

    first: int
    second: int


Gradients = Callable[[Recipe, Shape, Wanted], tuple[Recipe, ...]]
"""The recipes of a backward: from the forward's, its output's shape, and the gradients that are wanted."""


def backward_recipes(forward: Recipe, written: Shape, *, inputs: int, parameters: int) -> tuple[Recipe, ...]:
    """What takes the time of a backward, as operators of a forward; nothing where there is no such operator.

    `inputs` and `parameters` count the gradients that are computed.
    """
    rule = _GRADIENTS.get(forward.kind)
    return () if rule is None else rule(forward, written, Wanted(min(inputs, 1), int(parameters > 0 or inputs > 1)))


def _convolution(forward: Recipe, written: Shape, wanted: Wanted) -> tuple[Recipe, ...]:
    """The input's gradient is a convolution the other way round; the weights' one has the forward's arithmetic."""
    recipes = []
    if wanted.first:
        recipes.append(_input_gradient(forward, written))
    if wanted.second:
        recipes.append(Recipe(forward.kind, forward.feeds[:2], forward.slots[:2], 1, forward.attributes))
    return tuple(recipes)


def _input_gradient(forward: Recipe, written: Shape) -> Recipe:
    image, weights = forward.feeds[0].shape, forward.feeds[1].shape
    space = len(image) - 2
    kernel = weights[2:]
    strides = _ints(forward, "strides", (1,) * space)
    dilations = _ints(forward, "dilations", (1,) * space)
    pads = _ints(forward, "pads", _same_pads(image, written, kernel, strides, dilations))
    group = forward.attributes.get("group", 1)
    groups = group if isinstance(group, int) else 1
    reach = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
    turned = tuple(r - p for r, p in zip((*reach, *reach), pads, strict=True))
    # Turned round it also goes over its padding: where that is much, the transposed form is the like of it.
    much = 2 * prod(image[2:]) > 3 * prod(written[2:])
    if set(strides) == {1} and min(turned, default=0) >= 0 and not much:
        flipped = (image[1], written[1] // groups, *kernel)
        return of("Conv", written, flipped, pads=turned, dilations=dilations, group=groups)
    extra = tuple(
        image[i + 2] - ((written[i + 2] - 1) * strides[i] + reach[i] + 1 - pads[i] - pads[i + space])
        for i in range(space)
    )
    return of(
        "ConvTranspose", written, weights,
        strides=strides, dilations=dilations, pads=pads, group=groups, output_padding=extra,
    )  # fmt: skip


def _same_pads(image: Shape, written: Shape, kernel: Shape, strides: Shape, dilations: Shape) -> Shape:
    """The pads of a convolution that names none (`auto_pad`, or none at all)."""
    whole = [
        max(0, (o - 1) * s + d * (k - 1) + 1 - i)
        for i, o, k, s, d in zip(image[2:], written[2:], kernel, strides, dilations, strict=True)
    ]
    begin = tuple(w // 2 for w in whole)
    return (*begin, *(w - b for w, b in zip(whole, begin, strict=True)))


def _transposed(forward: Recipe, written: Shape, wanted: Wanted) -> tuple[Recipe, ...]:
    names = ("strides", "dilations", "pads", "group")
    attributes = {name: forward.attributes[name] for name in names if name in forward.attributes}
    back = of("Conv", written, forward.feeds[1].shape, **attributes)
    again = Recipe(forward.kind, forward.feeds[:2], forward.slots[:2], 1, forward.attributes)
    return (back,) * wanted.first + (again,) * wanted.second


def _gemm(forward: Recipe, written: Shape, wanted: Wanted) -> tuple[Recipe, ...]:
    a = forward.feeds[0].shape
    inner = a[0 if forward.attributes.get("transA") else -1]
    rows, columns = prod(written[:-1]), written[-1]
    written = (rows, columns)
    return (of("Gemm", written, (columns, inner)),) * wanted.first + (
        of("Gemm", written, (rows, inner), transA=1),
    ) * wanted.second


def _matmul(forward: Recipe, written: Shape, wanted: Wanted) -> tuple[Recipe, ...]:
    if len(forward.feeds) < 2 or min(len(feed.shape) for feed in forward.feeds[:2]) < 2:
        return ()
    a, b = forward.feeds[0].shape, forward.feeds[1].shape
    if len(b) == 2:
        rows = prod(a[:-1])
        left, right = of("Gemm", (rows, b[1]), (b[1], b[0])), of("Gemm", (rows, b[1]), (rows, b[0]), transA=1)
    else:
        left = of("MatMul", written, (*b[:-2], b[-1], b[-2]))
        right = of("MatMul", (*a[:-2], a[-1], a[-2]), written)
    return (left,) * wanted.first + (right,) * wanted.second


def _product(forward: Recipe, written: Shape, wanted: Wanted) -> tuple[Recipe, ...]:
    return (of("Mul", written, written),) * (wanted.first + (wanted.second if forward.kind == "Mul" else 0))


def _transpose(forward: Recipe, written: Shape, _: Wanted) -> tuple[Recipe, ...]:
    permutation = _ints(forward, "perm", tuple(reversed(range(len(written)))))
    back = tuple(sorted(range(len(permutation)), key=permutation.__getitem__))
    return (of("Transpose", written, perm=back),)


def _spread(forward: Recipe, written: Shape, _: Wanted) -> tuple[Recipe, ...]:
    """The gradient of a mean: one value to every element that went into it."""
    image = forward.feeds[0].shape
    narrow = written if len(written) == len(image) else (*written, *(1,) * (len(image) - len(written)))
    return (of("Mul", narrow, image),) if _broadcasts(narrow, image) else (of("Mul", (), image),)


def _max_pooling(forward: Recipe, _written: Shape, _wanted: Wanted) -> tuple[Recipe, ...]:
    """The gradient of a maximum goes once over what was pooled: one element of each window gets the output's."""
    image = forward.feeds[0].shape
    return (of("Add", image, image),)


def _average_pooling(forward: Recipe, _written: Shape, _wanted: Wanted) -> tuple[Recipe, ...]:
    """The gradient of a mean adds the output's to each element of a window: as many additions as the mean takes."""
    return (replace(forward, output_count=1),)


def _broadcasts(narrow: Shape, wide: Shape) -> bool:
    return all(n in (1, w) for n, w in zip(narrow, wide, strict=True))


def _ints(recipe: Recipe, name: str, default: Shape) -> Shape:
    value = recipe.attributes.get(name)
    return tuple(int(v) for v in value) if isinstance(value, tuple) and value else default


_GRADIENTS: Mapping[str, Gradients] = {
    "Conv": _convolution,
    "ConvTranspose": _transposed,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "Mul": _product,
    "Relu": _product,
    "LeakyRelu": _product,
    "Clip": _product,
    "Dropout": _product,
    "Sigmoid": _product,
    "Tanh": _product,
    "Transpose": _transpose,
    "MaxPool": _max_pooling,
    "AveragePool": _average_pooling,
    "GlobalAveragePool": _spread,
    "ReduceMean": _spread,
    "ReduceSum": _spread,
}
