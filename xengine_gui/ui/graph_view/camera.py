"""How units of a drawing become pixels; width and height have scales of their own, since rows are low and wide."""

from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, QRectF

_SMALLEST = 0.01
_LARGEST = 1.7
_WIDEST = 1.5
_MARGIN = 28.0
_READABLE = 0.62

Bounds = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Camera:
    """A pixel is `unit * scale + offset`, for x and for y."""

    scale_x: float = 1.0
    scale_y: float = 1.0
    offset_x: float = 0.0
    offset_y: float = 0.0

    def point(self, x: float, y: float) -> QPointF:
        """A place of the drawing in pixels."""
        return QPointF(x * self.scale_x + self.offset_x, y * self.scale_y + self.offset_y)

    def box(self, left: float, top: float, width: float, height: float) -> QRectF:
        """A rectangle of the drawing in pixels."""
        return QRectF(self.point(left, top), self.point(left + width, top + height))

    def place(self, at: QPointF) -> tuple[float, float]:
        """The place of the drawing at a pixel."""
        return (at.x() - self.offset_x) / self.scale_x, (at.y() - self.offset_y) / self.scale_y

    def zoomed(self, factor: float, at: QPointF) -> "Camera":
        """Larger or smaller by a factor around a pixel that stays."""
        factor_y = _clamp(self.scale_y * factor, _SMALLEST, _LARGEST) / self.scale_y
        factor_x = _clamp(self.scale_x * factor_y, _SMALLEST, _LARGEST) / self.scale_x
        return Camera(
            self.scale_x * factor_x,
            self.scale_y * factor_y,
            at.x() - (at.x() - self.offset_x) * factor_x,
            at.y() - (at.y() - self.offset_y) * factor_y,
        )

    def moved(self, dx: float, dy: float) -> "Camera":
        """Moved by pixels."""
        return replace(self, offset_x=self.offset_x + dx, offset_y=self.offset_y + dy)

    def within(self, bounds: Bounds, width: float, height: float) -> "Camera":
        """The same view, moved so far that some of the drawing can be seen."""
        left, top = self.point(bounds[0], bounds[1]).toTuple()
        right, bottom = self.point(bounds[2], bounds[3]).toTuple()
        dx = max(0.0, 80.0 - right) - max(0.0, left - (width - 80.0))
        dy = max(0.0, 60.0 - bottom) - max(0.0, top - (height - 60.0))
        return self.moved(dx, dy)

    def showing(self, box: QRectF, width: float, height: float) -> "Camera":
        """Moved no further than it takes to have a box of pixels in view."""
        dx = _shift(box.left(), box.right(), width)
        dy = _shift(box.top(), box.bottom(), height)
        return self.moved(dx, dy)


def fitted(bounds: Bounds, width: float, height: float, head: float) -> Camera:
    """A view of everything, below a heading of `head` pixels."""
    room_x, room_y = max(width - 2 * _MARGIN, 40.0), max(height - head - _MARGIN, 40.0)
    wide, high = max(bounds[2] - bounds[0], 1.0), max(bounds[3] - bounds[1], 1.0)
    scale_y = _clamp(room_y / high, _SMALLEST, 1.25)
    scale_x = _clamp(room_x / wide, _SMALLEST, min(_WIDEST, max(1.0, scale_y * 2.2)))
    return Camera(
        scale_x,
        scale_y,
        (width - wide * scale_x) / 2 - bounds[0] * scale_x,
        head + max(0.0, (room_y - high * scale_y) / 2) - bounds[1] * scale_y,
    )


def readable(bounds: Bounds, width: float, height: float, head: float) -> Camera:
    """A view of everything where names can be read in it, else of the top as large as they can be read."""
    whole = fitted(bounds, width, height, head)
    if whole.scale_y >= _READABLE:
        return whole
    return replace(whole, scale_y=_READABLE, offset_y=head - bounds[1] * _READABLE)


def _clamp(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _shift(low: float, high: float, room: float) -> float:
    if low < _MARGIN:
        return _MARGIN - low
    if high > room - _MARGIN:
        return max(room - _MARGIN - high, _MARGIN - low)
    return 0.0
