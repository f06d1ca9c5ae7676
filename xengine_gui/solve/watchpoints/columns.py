"""The variables of the relaxation, all binary: run, move, held and home (ALGORITHM.md, section 2)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from xengine_gui.solve.watchpoints.points import Segmentation
from xengine_gui.solve.watchpoints.settings import BYTES_PER_COLUMN
from xengine_gui.solve.watchpoints.tables import Ints, Tables

Mask = npt.NDArray[np.bool_]
ABSENT = -1


@dataclass(frozen=True)
class Columns:
    """Where each variable stands among the columns, `ABSENT` where no plan needs it.

    With K watch points, W ways, L lanes, D devices, N tensors, P parameters: `run[k, way]` (K + 1 x W), `move[k, lane]`
    (K + 1 x L), `held[k, d * N + t]` (K + 1 x D N; row 0, the start, is empty), `home[d, p]` (D x P); `count` columns
    in all.

    A watched run ends its segment, so what it makes is there only then. `early[k, way]` stands for a run of a watched
    recomputation before that; `feeding` is `early` for watched ways and `run` for all others: the runs whose outputs
    others can read in the same segment.
    """

    run: Ints
    early: Ints
    watched_last: Mask
    move: Ints
    held: Ints
    home: Ints
    count: int

    @cached_property
    def feeding(self) -> Ints:
        """Columns of the runs that others can read in the same segment (K + 1 x W)."""
        return np.where(self.watched_last, self.early, self.run)


def lay_out_columns(tables: Tables, segmentation: Segmentation) -> Columns:
    """Number the variables: runs, then moves, then held, then homes."""
    run, count = _numbered(_run_mask(tables, segmentation), 0)
    last = _watched_last(tables, segmentation)
    again = np.array([not point.is_first for point in segmentation.points] + [False])
    early, count = _numbered(last & (run >= 0) & again[:, np.newaxis], count)
    move, count = _numbered(_move_mask(tables, segmentation), count)
    held, count = _numbered(_held_mask(tables, segmentation), count)
    home, count = _numbered(_home_mask(tables), count)
    return Columns(run, early, last, move, held, home, count)


def estimated_bytes(tables: Tables, segmentation: Segmentation) -> int:
    """The memory that the model of some watch points would take, estimated from its columns before it is built."""
    return BYTES_PER_COLUMN * lay_out_columns(tables, segmentation).count


def _numbered(mask: Mask, first: int) -> tuple[Ints, int]:
    """Numbers from `first` on where the mask is set, and the next free number."""
    numbers = np.full(mask.shape, ABSENT, np.int64)
    end = first + int(np.count_nonzero(mask))
    numbers[mask] = np.arange(first, end)
    return numbers, end


def _run_mask(tables: Tables, segmentation: Segmentation) -> Mask:
    """No run before an operator's first computation, none after the last operator that depends on it."""
    reach = tables.operator_reach[tables.way_operator]
    mask = np.empty((len(segmentation.segments), len(tables.way_operator)), bool)
    for k, segment in enumerate(segmentation.segments):
        mask[k] = (tables.way_operator <= segment.last) & (reach >= segment.first)
        for operator, device in segmentation.barred(k):
            mask[k] &= (tables.way_operator != operator) | (tables.way_device != device)
    return mask


def _watched_last(tables: Tables, segmentation: Segmentation) -> Mask:
    """Ways whose run in a segment is the watched one at its end."""
    mask = np.zeros((len(segmentation.segments), len(tables.way_operator)), bool)
    for k, point in enumerate(segmentation.points):
        mask[k] = tables.way_operator == point.operator
        if not point.is_first:
            mask[k] &= tables.way_device == point.device
    return mask


def _move_mask(tables: Tables, segmentation: Segmentation) -> Mask:
    producer = tables.producer[tables.lane_tensor]
    reach = tables.tensor_reach[tables.lane_tensor]
    mask = np.empty((len(segmentation.segments), len(tables.lane_tensor)), bool)
    for k, segment in enumerate(segmentation.segments):
        mask[k] = (producer <= segment.last) & (reach >= segment.first)
    return mask


def _held_mask(tables: Tables, segmentation: Segmentation) -> Mask:
    """Tensors that exist and are needed later, or by the watched run."""
    problem, segments = tables.problem, segmentation.segments
    mask = np.zeros((len(segments), problem.device_count, problem.tensor_count), bool)
    for k, point in enumerate(segmentation.points, start=1):
        needed = tables.tensor_reach >= segments[k].first
        needed[list(problem.inputs[point.operator] + problem.outputs[point.operator])] = True
        mask[k] = needed & (tables.producer <= segments[k - 1].last)
    return mask.reshape(len(segments), -1)


def _home_mask(tables: Tables) -> Mask:
    """Parameters may live where an operator that uses them can run."""
    problem = tables.problem
    mask = np.zeros((problem.device_count, len(problem.parameter_bytes)), bool)
    for operator, device in zip(tables.way_operator, tables.way_device, strict=True):
        mask[device, list(problem.parameters[operator])] = True
    return mask
