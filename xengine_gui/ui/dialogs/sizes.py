"""The question how long a network's free dimensions are."""

from collections.abc import Mapping

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFormLayout, QSpinBox, QWidget

from xengine_gui.model.graph import NetworkGraph
from xengine_gui.ui.panels.parts import column, text_label

_MOST = 2**31 - 1


class SizesDialog(QDialog):
    """A number per free dimension; what was answered before is proposed."""

    def __init__(self, network: NetworkGraph, remembered: Mapping[str, int], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Free dimensions")
        self.boxes: dict[str, QSpinBox] = {}
        form = QFormLayout()
        form.setSpacing(8)
        for symbol, value in network.symbols.items():
            box = QSpinBox(minimum=1, maximum=_MOST, value=remembered.get(symbol, value or 1))
            box.setAccessibleName(symbol)
            box.lineEdit().setTextMargins(6, 0, 0, 0)
            self.boxes[symbol] = box
            form.addRow(text_label(symbol), box)
        unknown = len(network.unknown_tensors)
        sentence = (
            f"The sizes of {unknown:,} tensors of {network.name} depend on these dimensions. How long are they?"
            if unknown
            else f"The sizes of {network.name} depend on these dimensions."
        )
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        self.setLayout(column(text_label(sentence, wrap=True), form, 1, buttons, spacing=14, margins=(18, 16, 18, 14)))
        self.setMinimumWidth(380)

    @property
    def bindings(self) -> dict[str, int]:
        """The values that were given."""
        return {symbol: box.value() for symbol, box in self.boxes.items()}
