"""Values of the inputs that decide an operator's shape, and old forms of operators in their new one."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xengine_gui.profile.recipes import Feed, Recipe

Shape = tuple[int, ...]
_OLD = ("consumed_inputs", "spatial", "is_test")
_OURS = ("backward_reads", "saved_widths")
"""Attributes by which importers tell what a backward reads, which ONNX does not know."""
_BATCH_OUTPUTS = 3


def arranged(recipe: "Recipe", written: tuple[Shape, ...], *, training: bool) -> "Recipe | None":
    """The recipe in the form that opset 18 and later have, with values where an input holds a shape or axes.

    `written` has the shapes of the outputs. `None` where such values cannot be known from the shapes.
    """
    recipe = replace(recipe, attributes={k: v for k, v in recipe.attributes.items() if k not in _OLD + _OURS})
    if recipe.kind == "BatchNormalization":
        return _batch_normalization(recipe, training=training)
    if recipe.kind.startswith("Reduce"):
        return _reduction(recipe, written[0])
    rule = _RULES.get(recipe.kind)
    return recipe if rule is None else rule(recipe, written)


def _without(recipe: "Recipe", *names: str) -> dict[str, object]:
    return {name: value for name, value in recipe.attributes.items() if name not in names}


def _of_whole(recipe: "Recipe", kind: str, *values: tuple[Shape, str], drop: tuple[str, ...] = ()) -> "Recipe":
    """The first input with further ones of these whole numbers."""
    feeds: list[Feed] = [recipe.feeds[0]]
    slots = [recipe.slots[0]]
    for numbers, name in values:
        if name:
            feeds.append(replace(recipe.feeds[0], name=name, shape=(len(numbers),), dtype="int64", values=numbers))
        slots.append(name)
    kept = _without(recipe, *drop)
    return replace(recipe, kind=kind, feeds=tuple(feeds), slots=tuple(slots), attributes=kept)  # type: ignore[arg-type]


def _batch_normalization(recipe: "Recipe", *, training: bool) -> "Recipe":
    attributes = {**_without(recipe, "training_mode"), **({"training_mode": 1} if training else {})}
    count = _BATCH_OUTPUTS if training else 1
    return replace(recipe, attributes=attributes, output_count=count)  # type: ignore[arg-type]


def _reduction(recipe: "Recipe", written: Shape) -> "Recipe":
    read = recipe.feeds[0].shape
    given = recipe.attributes.get("axes")
    if isinstance(given, tuple) and given:
        axes = tuple(int(axis) for axis in given)
    elif recipe.attributes.get("keepdims", 1):
        axes = tuple(i for i, (r, w) in enumerate(zip(read, written, strict=True)) if r != w)
    else:
        axes = _left_out(read, written)
    if not axes:  # a length of 1 was reduced: the work is that of a copy
        axes = (len(read) - 1,) if read else ()
    return _of_whole(recipe, recipe.kind, (axes, "axes"), drop=("axes", "noop_with_empty_axes"))


def _left_out(read: Shape, written: Shape) -> Shape:
    """The axes of `read` without which it is `written`."""
    place, axes = 0, []
    for axis, length in enumerate(read):
        if place < len(written) and written[place] == length:
            place += 1
        else:
            axes.append(axis)
    return tuple(axes)


def _slice(recipe: "Recipe", written: tuple[Shape, ...]) -> "Recipe":
    every = written[0]
    drop = ("starts", "ends", "axes")
    return _of_whole(recipe, "Slice", ((0,) * len(every), "starts"), (every, "ends"), drop=drop)


def _shaped(recipe: "Recipe", written: tuple[Shape, ...]) -> "Recipe":
    kind = "Expand" if recipe.kind == "Expand" else "Reshape"
    return _of_whole(recipe, kind, (written[0], "shape"), drop=("shape", "axes", "axis", "allowzero"))


def _tile(recipe: "Recipe", written: tuple[Shape, ...]) -> "Recipe":
    times = tuple(w // max(1, r) for w, r in zip(written[0], recipe.feeds[0].shape, strict=True))
    return _of_whole(recipe, "Tile", (times, "repeats"))


def _pad(recipe: "Recipe", written: tuple[Shape, ...]) -> "Recipe":
    read = recipe.feeds[0].shape
    more = tuple(w - r for w, r in zip(written[0], read, strict=True))
    return _of_whole(recipe, "Pad", ((0,) * len(read) + more, "pads"), drop=("pads", "paddings", "value"))


def _resize(recipe: "Recipe", written: tuple[Shape, ...]) -> "Recipe":
    return _of_whole(recipe, "Resize", ((), ""), ((), ""), (written[0], "sizes"), drop=("scales", "axes"))


def _split(recipe: "Recipe", written: tuple[Shape, ...]) -> "Recipe":
    axis = recipe.attributes.get("axis", 0)
    lengths = tuple(shape[axis if isinstance(axis, int) else 0] for shape in written)
    return _of_whole(recipe, "Split", (lengths, "split"), drop=("split", "num_outputs"))


def _clip(recipe: "Recipe", _: tuple[Shape, ...]) -> "Recipe":
    whole = recipe.feeds[0]
    bounds = tuple(replace(whole, name=n, shape=(), values=(v,)) for n, v in (("least", 0.0), ("most", 6.0)))
    kept = _without(recipe, "min", "max")
    slots = (recipe.slots[0], "least", "most")
    return replace(recipe, feeds=(whole, *bounds), slots=slots, attributes=kept)  # type: ignore[arg-type]


def _dropout(recipe: "Recipe", _: tuple[Shape, ...]) -> "Recipe":
    whole = recipe.feeds[0]
    feeds = (
        whole,
        replace(whole, name="ratio", shape=(), values=(0.5,)),
        replace(whole, name="training", shape=(), dtype="bool", values=(1,)),
    )
    kept = _without(recipe, "ratio")
    slots = (recipe.slots[0], "ratio", "training")
    return replace(recipe, feeds=feeds, slots=slots, output_count=2, attributes=kept)  # type: ignore[arg-type]


def _gemm(recipe: "Recipe", _: tuple[Shape, ...]) -> "Recipe":
    """A linear layer over more dimensions than one is that over all of them together."""
    whole = recipe.feeds[0]
    if len(whole.shape) < 3:
        return recipe
    rows = replace(whole, shape=(prod(whole.shape[:-1]), whole.shape[-1]))
    return replace(recipe, feeds=(rows, *recipe.feeds[1:]))


def _recurrent(recipe: "Recipe", _: tuple[Shape, ...]) -> "Recipe":
    """Sequences of full length. PyTorch has no dimension of directions, and biases and states of their own."""
    named = {feed.name: feed for feed in recipe.feeds}
    weights = [named[name] for name in recipe.slots[1:3] if name]
    if weights and all(len(feed.shape) == 2 for feed in weights):
        both = 2 if recipe.attributes.get("direction") == "bidirectional" else 1
        stacked = tuple(replace(feed, shape=(both, *feed.shape)) for feed in weights)
        slots = (recipe.slots[0], *(feed.name for feed in stacked))
        return replace(recipe, feeds=(recipe.feeds[0], *stacked), slots=slots, output_count=1)
    steps = recipe.feeds[0].shape[0]
    lengths = recipe.slots[4] if len(recipe.slots) > 4 else ""
    feeds = tuple(replace(f, values=(steps,) * f.shape[0]) if f.name == lengths else f for f in recipe.feeds)
    return replace(recipe, feeds=feeds)


def _unknown(_: "Recipe", __: tuple[Shape, ...]) -> None:
    """Kinds whose time hangs on the values of whole numbers that only the file would tell."""


_RULES: Mapping[str, Callable[["Recipe", tuple[Shape, ...]], "Recipe | None"]] = {
    "Slice": _slice,
    "Reshape": _shaped,
    "Flatten": _shaped,
    "Squeeze": _shaped,
    "Unsqueeze": _shaped,
    "Expand": _shaped,
    "Tile": _tile,
    "Pad": _pad,
    "Resize": _resize,
    "Upsample": _resize,
    "Split": _split,
    "Clip": _clip,
    "Gemm": _gemm,
    "Dropout": _dropout,
    "LSTM": _recurrent,
    "GRU": _recurrent,
    "RNN": _recurrent,
    "Range": _unknown,
    "OneHot": _unknown,
    "TopK": _unknown,
    "NonMaxSuppression": _unknown,
}
