"""Convolutions by several algorithms, which trade time for workspace: what a plan may choose from under a tight limit.

The workspaces are closed forms of the shapes: the lowered image of one example (im2col), the transformed tiles of
Winograd's F(2 x 2, 3 x 3) and the spectra of images, weights and results (FFT). The shares of the device's reachable
arithmetic are rough: the roofline's rate is that of the lowered form, direct kernels and transforms reach less of it.

K. Chellapilla, S. Puri, P. Simard, High performance convolutional neural networks for document processing, 2006;
A. Lavin, S. Gray, Fast algorithms for convolutional neural networks, CVPR 2016;
M. Mathieu, M. Henaff, Y. LeCun, Fast training of convolutional networks through FFTs, ICLR 2014.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, log2, prod

from xengine_gui.cost.flops import Convolution, Work
from xengine_gui.cost.preset_fields import DevicePreset
from xengine_gui.cost.roofline import CostModel, Roofline, roofline_ns
from xengine_gui.model.operator import Implementation

_FLOAT_BYTES, _COMPLEX_BYTES = 4, 8
_DIRECT_SHARE = {"cpu": 0.8, "igpu": 0.6, "gpu": 0.6, "mcu": 0.7}
"""What a kernel that lowers nothing reaches of the lowered form's rate."""
_TRANSFORM_SHARE = 0.6
_LEAST_KERNEL_OF_FFT = 5
_TILE, _TILE_STEP = 4, 2
"""F(2 x 2, 3 x 3): tiles of 4 x 4 that overlap and give 2 x 2 results each."""


class Algorithms:
    """The roofline, with a row per algorithm for dense convolutions: none is there that another beats in both."""

    key = "algorithms"
    title = "Roofline, convolutions by several algorithms"

    def implementations(self, work: Work, device: DevicePreset) -> tuple[Implementation, ...]:
        """The algorithms that are worth having, the fastest first; one row without a name for anything else."""
        usual = Roofline().implementations(work, device)
        if not usual or work.convolution is None or work.work_class != "matrix":
            return usual
        if prod(work.convolution.kernel) == 1:  # nothing to lower or to transform
            return usual
        rows = sorted(_rows(work, work.convolution, device), key=lambda row: (row.time_ns, row.workspace_bytes))
        kept: list[Implementation] = []
        for row in rows:
            if not kept or row.workspace_bytes < kept[-1].workspace_bytes:
                kept.append(row)
        return tuple(kept)


def _rows(work: Work, shapes: Convolution, device: DevicePreset) -> Iterator[Implementation]:
    slower = replace(work, flop=ceil(work.flop / _DIRECT_SHARE.get(device.kind, 0.7)))
    yield Implementation(roofline_ns(slower, device), 0, "direct")
    lowered = im2col_bytes(shapes)
    yield Implementation(roofline_ns(work, device), lowered, "im2col")
    if work.backward or device.kind == "mcu":
        return
    if _is_for_winograd(shapes):
        yield _transformed(work, device, "winograd", work.flop * 16 // 36, winograd_bytes(shapes))
    if min(shapes.kernel) >= _LEAST_KERNEL_OF_FFT and _is_plain(shapes):
        yield _transformed(work, device, "fft", _fft_flop(shapes), fft_bytes(shapes))


def _transformed(work: Work, device: DevicePreset, name: str, flop: int, workspace_bytes: int) -> Implementation:
    """An algorithm that writes its workspace once, reads it once, and computes in between."""
    done = replace(work, flop=ceil(flop / _TRANSFORM_SHARE), bytes_moved=work.bytes_moved + 2 * workspace_bytes)
    return Implementation(roofline_ns(done, device) + 2 * device.launch_ns, workspace_bytes, name)


def im2col_bytes(shapes: Convolution) -> int:
    """The image of one example, lowered to a matrix: a column of the whole kernel for each place of the result."""
    channels = shapes.read_channels // shapes.groups
    return _FLOAT_BYTES * channels * prod(shapes.kernel) * prod(shapes.written)


def winograd_bytes(shapes: Convolution) -> int:
    """Transformed weights, and the transformed tiles of all images and results."""
    tiles = shapes.images * prod(-(-length // _TILE_STEP) for length in shapes.written)
    weights = shapes.read_channels * shapes.written_channels // shapes.groups
    return _FLOAT_BYTES * _TILE**2 * (weights + tiles * (shapes.read_channels + shapes.written_channels))


def fft_bytes(shapes: Convolution) -> int:
    """Spectra of the images, the weights and the results, each of half a plane as their originals are real."""
    weights = shapes.read_channels * shapes.written_channels // shapes.groups
    planes = shapes.images * (shapes.read_channels + shapes.written_channels) + weights
    return _COMPLEX_BYTES * planes * _half_plane(shapes)


def _half_plane(shapes: Convolution) -> int:
    lengths = [length + k - 1 for length, k in zip(shapes.read, shapes.kernel, strict=True)]
    return prod(lengths[:-1]) * (lengths[-1] // 2 + 1)


def _fft_flop(shapes: Convolution) -> int:
    half = _half_plane(shapes)
    weights = shapes.read_channels * shapes.written_channels // shapes.groups
    planes = shapes.images * (shapes.read_channels + shapes.written_channels) + weights
    # A real transform of n points takes 2.5 n log n, a complex multiply-accumulate 8 operations.
    return ceil(planes * 2.5 * 2 * half * log2(max(2, 2 * half))) + 8 * shapes.images * weights * half


def _is_plain(shapes: Convolution) -> bool:
    return set(shapes.strides) == {1} and set(shapes.dilations) == {1}


def _is_for_winograd(shapes: Convolution) -> bool:
    return shapes.kernel == (3, 3) and _is_plain(shapes) and shapes.groups == 1


COST_MODELS: tuple[CostModel, ...] = (Roofline(), Algorithms())
"""All cost models; the first one is what is taken when nobody says otherwise."""
