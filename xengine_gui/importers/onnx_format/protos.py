"""Types as ONNX messages."""

from typing import Any

import onnx

from xengine_gui.importers.onnx_format.records import Declared


def type_proto(declared: Declared) -> Any:
    """The message of a declared type."""
    name = {"float32": "FLOAT", "float64": "DOUBLE"}.get(declared.dtype, declared.dtype.upper())
    codes = dict(onnx.TensorProto.DataType.items())
    proto = onnx.TypeProto()
    proto.tensor_type.elem_type = codes.get(name, onnx.TensorProto.UNDEFINED)
    if declared.dims is not None:
        proto.tensor_type.shape.SetInParent()
        for dim in declared.dims:
            entry = proto.tensor_type.shape.dim.add()
            if isinstance(dim, int):
                entry.dim_value = dim
            elif dim is not None:
                entry.dim_param = dim
    return proto
