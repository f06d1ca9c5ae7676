"""The question how long a network's free dimensions are, and how large the tensors whose size nothing tells."""

from collections.abc import Mapping

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QLineEdit, QScrollArea, QSpinBox, QWidget

from xengine_gui.errors import InputError
from xengine_gui.importers.sizes import missing_sizes
from xengine_gui.language import tr
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.ui.panels.parts import column, text_label
from xengine_gui.ui.theme import set_style_property
from xengine_gui.units import format_count, format_size_exact, parse_size_bytes

_MOST = 2**31 - 1


class SizesDialog(QDialog):
    """A number per free dimension, where what was answered before is proposed; then a field per unknown size.

    Sizes are asked for once all dimensions have values: most follow from those.
    """

    def __init__(self, network: NetworkGraph, remembered: Mapping[str, int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Free dimensions") if network.symbols else tr("Unknown sizes"))
        self.boxes: dict[str, QSpinBox] = {}
        self.fields: dict[str, QLineEdit] = {}
        form = QFormLayout()
        form.setSpacing(8)
        for symbol, value in network.symbols.items():
            box = QSpinBox(minimum=1, maximum=_MOST, value=remembered.get(symbol, value or 1))
            box.setAccessibleName(symbol)
            box.lineEdit().setTextMargins(6, 0, 0, 0)
            self.boxes[symbol] = box
            form.addRow(text_label(symbol), box)
        missing = missing_sizes(network)
        if None not in network.symbols.values():
            for name in missing:
                self._add_field(form, name, network)
        self.mistake = text_label("", "error", wrap=True)
        self.mistake.hide()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        sentence = text_label(_sentence(network, len(missing)), wrap=True)
        rows = _scrolled(form) if len(self.fields) > 8 else form
        margins = (18, 16, 18, 14)
        self.setLayout(column(sentence, rows, 1, self.mistake, buttons, spacing=14, margins=margins))
        self.setMinimumWidth(420)

    @property
    def bindings(self) -> dict[str, int]:
        """The values that were given to free dimensions."""
        return {symbol: box.value() for symbol, box in self.boxes.items()}

    @property
    def sizes(self) -> dict[str, int]:
        """The bytes that were given to tensors; those whose field makes no sense are left out."""
        read = ((name, _read(field.text())) for name, field in self.fields.items())
        return {name: size for name, size in read if isinstance(size, int)}

    def accept(self) -> None:
        """Close, unless a size is missing or makes no sense: then the first that does is told below."""
        wrong = [(name, why) for name, f in self.fields.items() if isinstance(why := _read(f.text()), str)]
        for name, field in self.fields.items():
            set_style_property(field, "invalid", name in dict(wrong))
        if not wrong:
            super().accept()
            return
        name, why = wrong[0]
        more = tr(" ({wrong} to mend)", wrong=format_count(len(wrong) - 1, "more field")) if len(wrong) > 1 else ""
        self.mistake.setText(f"{name}: {why}{more}")
        self.mistake.show()
        self.adjustSize()
        self.fields[name].setFocus()

    def _add_field(self, form: QFormLayout, name: str, network: NetworkGraph) -> None:
        field = QLineEdit()
        field.setPlaceholderText(tr("such as 8 MiB"))
        field.setAccessibleName(tr("size of {name}", name=name))
        tensor = network.tensors.get(name)
        field.setToolTip(tr("bytes of {name}", name=name) + (f", {tensor.dtype}" if tensor is not None else ""))
        field.textEdited.connect(lambda text: field.setToolTip(_echo(text)))
        self.fields[name] = field
        form.addRow(text_label(name), field)


def _sentence(network: NetworkGraph, unknown: int) -> str:
    if not network.symbols:
        return tr(
            "{name} does not tell the size of {unknown}, and without sizes nothing can be planned. How large are they?",
            name=network.name,
            unknown=format_count(unknown, "tensor"),
        )
    if unknown:
        return tr(
            "The sizes of {unknown} of {name} depend on these dimensions or are not told. How long are they?",
            unknown=format_count(unknown, "tensor"),
            name=network.name,
        )
    return tr("The sizes of {name} depend on these dimensions.", name=network.name)


def _scrolled(form: QFormLayout) -> QScrollArea:
    inner = QWidget()
    inner.setLayout(form)
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(inner)
    area.setMinimumHeight(280)
    return area


def _read(text: str) -> int | str:
    """The bytes in a field, or what is wrong with it."""
    try:
        return parse_size_bytes(text)
    except InputError as error:
        return str(error)


def _echo(text: str) -> str:
    size = _read(text)
    return format_size_exact(size) if isinstance(size, int) else size
