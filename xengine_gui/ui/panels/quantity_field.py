"""A field for a quantity with its unit, which refuses anything else in place."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QWidget

from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.ui.panels.entry import EntryEdit, show_hint
from xengine_gui.ui.panels.parts import column, text_label
from xengine_gui.units import format_bandwidth, format_duration, format_duration_exact, parse_bytes_per_s
from xengine_gui.units import parse_duration_ns as _parse_duration_ns


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is asked for: how it is read and shown, shortly and to the last digit, and the least it may be."""

    name: str
    example: str
    parse: Callable[[str], int]
    show: Callable[[int], str]
    exact: Callable[[int], str]
    least: int = 0


BANDWIDTH = Quantity(
    "bandwidth",
    tr("such as 24 GB/s"),
    parse_bytes_per_s,
    format_bandwidth,
    lambda value: tr("{value:,} bytes a second", value=value),
    1,
)
LATENCY = Quantity("latency", tr("such as 10 µs"), _parse_duration_ns, format_duration, format_duration_exact)


class QuantityField(QWidget):
    """Shows a quantity, and tells a new one once it is entered and makes sense.

    What makes no sense stays in the field to be mended, with a red border and a sentence in `hint`, and the quantity
    stays what it was. Escape brings it back.
    """

    edited = Signal(object)
    """The new value."""

    def __init__(self, quantity: Quantity, value: int = 0, hint: QLabel | None = None) -> None:
        super().__init__()
        self._quantity, self._value = quantity, value
        self.edit = EntryEdit()
        self.edit.setPlaceholderText(quantity.example)
        self.hint = hint or text_label("", "small", wrap=True)
        self.hint.hide()
        self.setLayout(column(self.edit, self.hint if hint is None else None, spacing=3))
        self.edit.textEdited.connect(self._typed)
        self.edit.editingFinished.connect(self._entered)
        self.edit.given_up.connect(self._restore)
        self.setFocusProxy(self.edit)
        self._restore()

    @property
    def value(self) -> int:
        """The value that holds, whatever is being typed."""
        return self._value

    def set_value(self, value: int) -> None:
        """Show another value; a field that somebody is typing in is left alone unless the value has changed."""
        if value != self._value or not self.edit.hasFocus():
            self._value = value
            self._restore()

    def _read(self, text: str) -> tuple[int, str]:
        try:
            value = self._quantity.parse(text)
        except InputError as error:
            return 0, f"{error}"
        if value < self._quantity.least:
            return 0, tr("the {name} must be more than 0", name=self._quantity.name)
        return value, ""

    def _typed(self, text: str) -> None:
        value, mistake = self._read(text)
        self._tell("" if mistake else self._quantity.exact(value), wrong=False)

    def _entered(self) -> None:
        if self.edit.text() == self._quantity.show(self._value):
            self._tell("", wrong=False)
            return
        value, mistake = self._read(self.edit.text())
        if mistake:
            self._tell(
                f"{mistake[:1].upper()}{mistake[1:].rstrip('.?')}{'?' if mistake.endswith('?') else '.'}", wrong=True
            )
            return
        changed = value != self._value
        self._value = value
        self._restore()
        if changed:
            self.edited.emit(value)

    def _restore(self) -> None:
        self.edit.setText(self._quantity.show(self._value))
        self.edit.setToolTip(f"{self._quantity.name}: {self._quantity.exact(self._value)}")
        self._tell("", wrong=False)

    def _tell(self, text: str, *, wrong: bool) -> None:
        show_hint(self.edit, self.hint, text, wrong=wrong)
