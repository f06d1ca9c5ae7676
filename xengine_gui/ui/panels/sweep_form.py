"""What is swept: which device's limit from where to where, perhaps a second one's, by which strategies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QGridLayout, QLineEdit, QMenu, QPushButton, QSpinBox, QWidget

from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.solve.base import Strategy
from xengine_gui.ui.panels.parts import fit_text, text_label
from xengine_gui.ui.theme import set_style_property
from xengine_gui.units import format_size, parse_size_bytes

_NO_SECOND = tr("no other")
_MOST_POINTS, _MOST_PAIRS = 60, 20
_DIGITS_OF_STRATEGIES = 19
"""Room for the names of strategies, in digits."""


@dataclass(frozen=True, slots=True)
class AskedAxis:
    """A device and the range of its limits; `None` is the usual end."""

    device: str
    low_bytes: int | None
    high_bytes: int | None
    count: int


class AxisFields:
    """The fields of one axis: the device, and where its limit starts and ends."""

    def __init__(self, name: str) -> None:
        self.device = QComboBox()
        self.device.setAccessibleName(tr("{name} device", name=name))
        self.device.setToolTip(tr("The device whose limits are swept"))
        self.device.setSizePolicy(self.device.sizePolicy().horizontalPolicy(), self.device.sizePolicy().Policy.Fixed)
        self.low, self.high = QLineEdit(), QLineEdit()
        for edit, end in ((self.low, "smallest"), (self.high, "largest")):
            edit.setAccessibleName(tr("{end} limit of the {name} device", end=end, name=name))
            edit.setToolTip(tr("The {end} limit, such as 900 MiB; empty for the usual one", end=end))
            edit.setAlignment(Qt.AlignmentFlag.AlignRight)
            edit.textEdited.connect(lambda _text, edit=edit: set_style_property(edit, "invalid", value=False))

    def asked(self, count: int) -> AskedAxis:
        """What the fields say; an `InputError` where a size makes no sense, and its field is marked."""
        return AskedAxis(self.device.currentText(), self._size(self.low), self._size(self.high), count)

    def show_usual(self, ends: tuple[int, int] | None) -> None:
        """Say what an empty field means."""
        texts = ("", "") if ends is None else map(format_size, ends)
        for edit, text in zip((self.low, self.high), texts, strict=True):
            edit.setPlaceholderText(text)

    @staticmethod
    def _size(edit: QLineEdit) -> int | None:
        if not edit.text().strip():
            return None
        try:
            return parse_size_bytes(edit.text())
        except InputError:
            set_style_property(edit, "invalid", value=True)
            raise


class SweepForm(QWidget):
    """The fields of a sweep, in a column."""

    edited = Signal()
    """Other devices or strategies are chosen."""

    def __init__(self, strategies: Sequence[Strategy]) -> None:
        super().__init__()
        self.first, self.second = AxisFields("first"), AxisFields("second")
        self.points = QSpinBox(minimum=2, maximum=_MOST_POINTS, value=12, suffix=" limits")
        self.points.setToolTip(tr("How many limits of each device are planned"))
        self.points.setAccessibleName(tr("Number of limits"))
        self.points.lineEdit().setTextMargins(6, 0, 0, 0)
        self.strategies = QPushButton()
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._actions: dict[str, QAction] = {}
        for i, strategy in enumerate(strategies):
            action = self._menu.addAction(strategy.title)
            action.setCheckable(True)
            action.setChecked(i == 0)
            action.setToolTip(strategy.summary)
            action.toggled.connect(self._strategies_changed)
            self._actions[strategy.key] = action
        self.strategies.setMenu(self._menu)
        self.strategies.setToolTip(tr("Which strategies are swept"))
        self._arrange()
        self.first.device.currentTextChanged.connect(self._first_changed)
        self.second.device.currentTextChanged.connect(self._second_changed)
        self._strategies_changed()
        self._second_changed()

    # --- what is asked for

    def axes(self) -> list[AskedAxis]:
        """What is swept; an `InputError` where a field makes no sense."""
        count = self.points.value()
        axes = [self.first.asked(count)]
        if self.has_second:
            axes.append(self.second.asked(count))
        return axes

    @property
    def has_second(self) -> bool:
        """Whether two devices are swept."""
        return self.second.device.currentIndex() > 0

    @property
    def chosen(self) -> tuple[str, ...]:
        """The keys of the chosen strategies."""
        return tuple(key for key, action in self._actions.items() if action.isChecked())

    def choose(self, keys: Sequence[str]) -> None:
        """Choose strategies."""
        for key, action in self._actions.items():
            action.setChecked(key in keys)

    # --- what is shown

    def show_devices(self, devices: Sequence[str], proposed: str) -> None:
        """Offer these devices, and propose one of them."""
        if [self.first.device.itemText(i) for i in range(self.first.device.count())] == list(devices):
            return
        self.first.device.clear()
        self.first.device.addItems(list(devices))
        for edit in (self.first.low, self.first.high, self.second.low, self.second.high):
            edit.clear()
        self.first.device.setCurrentText(proposed)
        self._first_changed()

    def show_usual(self, ranges: Mapping[str, tuple[int, int]]) -> None:
        """Say between which limits it matters, per device."""
        for fields in (self.first, self.second):
            fields.show_usual(ranges.get(fields.device.currentText()))

    def _arrange(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(6)
        for line, (caption, fields) in enumerate(((tr("limit of"), self.first), (tr("and of"), self.second))):
            grid.addWidget(text_label(caption, "small"), line, 0)
            grid.addWidget(fields.device, line, 1)
            grid.addWidget(fields.low, line, 2)
            grid.addWidget(text_label("to", "small"), line, 3)
            grid.addWidget(fields.high, line, 4)
        grid.addWidget(text_label("by", "small"), 2, 0)
        grid.addWidget(self.strategies, 2, 1, 1, 2)
        grid.addWidget(self.points, 2, 4)
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(2, 2)
        grid.setColumnStretch(4, 2)
        for edit in (self.first.low, self.first.high, self.second.low, self.second.high):
            fit_text(edit, partial(_as_wide_as_a_size, edit))

    def _first_changed(self) -> None:
        """The second device is another one than the first."""
        first, before = self.first.device.currentText(), self.second.device.currentText()
        others = [self.first.device.itemText(i) for i in range(self.first.device.count())]
        self.second.device.blockSignals(True)  # noqa: FBT003 - Qt's own signature
        self.second.device.clear()
        self.second.device.addItems([_NO_SECOND, *(name for name in others if name != first)])
        self.second.device.setCurrentIndex(max(0, self.second.device.findText(before)))
        self.second.device.blockSignals(False)  # noqa: FBT003
        self._second_changed()

    def _second_changed(self) -> None:
        for edit in (self.second.low, self.second.high):
            edit.setEnabled(self.has_second)
        self.second.device.setEnabled(self.second.device.count() > 1)
        self.points.setMaximum(_MOST_PAIRS if self.has_second else _MOST_POINTS)
        self.points.setSuffix(" each" if self.has_second else " limits")
        if self.has_second and self.points.value() > 8:
            self.points.setValue(6)
        self.edited.emit()

    def _strategies_changed(self) -> None:
        titles = [action.text() for action in self._actions.values() if action.isChecked()]
        words = (
            titles[0]
            if len(titles) == 1
            else tr("{titles} strategies", titles=len(titles))
            if titles
            else tr("no strategy")
        )
        metrics = self.strategies.fontMetrics()
        width = metrics.horizontalAdvance("0" * _DIGITS_OF_STRATEGIES)
        self.strategies.setText(metrics.elidedText(words, Qt.TextElideMode.ElideRight, width))
        self.edited.emit()


def _as_wide_as_a_size(edit: QLineEdit) -> None:
    edit.setMinimumWidth(edit.fontMetrics().horizontalAdvance("0.00 GiB") + 20)
