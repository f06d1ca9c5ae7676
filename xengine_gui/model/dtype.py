"""Data types and their sizes, down to two bits an element."""

from collections.abc import Mapping, Sequence
from math import prod

BITS: Mapping[str, int] = {
    "float32": 32,
    "float64": 64,
    "float16": 16,
    "bfloat16": 16,
    "float8e4m3fn": 8,
    "float8e4m3fnuz": 8,
    "float8e5m2": 8,
    "float8e5m2fnuz": 8,
    "float8e8m0": 8,
    "float4e2m1": 4,
    "complex64": 64,
    "complex128": 128,
    "bool": 8,
    "int64": 64,
    "int32": 32,
    "int16": 16,
    "int8": 8,
    "int4": 4,
    "int2": 2,
    "uint64": 64,
    "uint32": 32,
    "uint16": 16,
    "uint8": 8,
    "uint4": 4,
    "uint2": 2,
}
"""Bits of an element; a type that is not here (strings, sequences, maps) has no size of its own."""


def element_count(shape: Sequence[int] | None) -> int | None:
    """Number of elements, `None` where the shape is unknown."""
    return None if shape is None else prod(shape)


def size_bytes(dtype: str, count: int | None) -> int | None:
    """Whole bytes of `count` elements, rounded up; `None` where the type or the count is unknown."""
    bits = BITS.get(dtype)
    if bits is None or count is None:
        return None
    return -(-count * bits // 8)


def is_float(dtype: str) -> bool:
    """Whether a gradient can flow through tensors of this type."""
    return dtype.startswith(("float", "bfloat", "complex"))


def may_be_float(dtype: str) -> bool:
    """The same where nothing tells the type, as behind an operator of an unknown domain: then they may."""
    return dtype == "unknown" or is_float(dtype)
