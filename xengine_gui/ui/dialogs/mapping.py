"""The question which attribute of a foreign graph holds what, in which unit, and what nodes without a value get."""

from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QGridLayout, QLineEdit, QWidget

from xengine_gui.errors import InputError
from xengine_gui.importers.costed.fields import (
    DEFAULT,
    FIELD_WORDS,
    NEEDED,
    TEXTS,
    MappingWantedError,
    fields_of,
)
from xengine_gui.language import tr
from xengine_gui.ui.panels.parts import column, text_label
from xengine_gui.units import format_count, format_names

_NONE = "(none)"
_UNITS = {
    "time": ("ns", "us", "ms", "s"),
    "size": ("B", "KB", "KiB", "MB", "MiB", "GB", "GiB"),
}


class MappingDialog(QDialog):
    """A row per field: the attribute that holds it, the unit of numbers there, and a default."""

    def __init__(self, wanted: MappingWantedError, file_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Attributes of the graph"))
        self._keys = wanted.keys
        self.keys: dict[str, QComboBox] = {}
        self.units: dict[str, QComboBox] = {}
        self.defaults: dict[str, QLineEdit] = {}
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        for place, title in enumerate(("field", "attribute", tr("unit of numbers"), tr("where it is missing"))):
            grid.addWidget(text_label(title, "muted"), 0, place)
        for row, (field, words) in enumerate(FIELD_WORDS.items(), 1):
            self._add_row(grid, row, field, words, wanted.guessed.get(field, ""))
        # Attributes such as time.gpu and time.cpu are offered above as one, time; this is for those of other names.
        self.single = QLineEdit(placeholderText=tr("such as time.gpu=gpu_ms:ms, time.cpu=cpu_ms:ms"))
        self.single.setAccessibleName(tr("attributes of single devices"))
        grid.addWidget(
            text_label(tr("by device"), tip=tr("where each device has an attribute of its own")),
            len(FIELD_WORDS) + 1,
            0,
        )
        grid.addWidget(self.single, len(FIELD_WORDS) + 1, 1, 1, 3)
        self.mistake = text_label("", "error", wrap=True)
        self.mistake.hide()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        sentence = tr("{file_name} brings its own costs. Which attribute of its nodes means what?", file_name=file_name)
        lacking = (
            tr(
                "{nodes} without a {field}: {names}.",
                nodes=format_count(len(nodes), "node"),
                field=field,
                names=format_names(nodes, 4),
            )
            for field, nodes in wanted.missing.items()
        )
        why = text_label("\n".join(lacking), "muted", wrap=True)
        margins = (18, 16, 18, 14)
        self.setLayout(
            column(text_label(sentence, wrap=True), grid, why, 1, self.mistake, buttons, spacing=14, margins=margins)
        )
        self.setMinimumWidth(560)

    @property
    def mapping(self) -> dict[str, str]:
        """The answer, as `planner.open_file` takes it."""
        chosen: dict[str, str] = {}
        for field, box in self.keys.items():
            if box.currentIndex() > 0:
                unit = self.units[field].currentText() if field in self.units else ""
                chosen[field] = f"{box.currentText()}:{unit}" if unit else box.currentText()
            default = self.defaults[field].text().strip() if field in self.defaults else ""
            if default:
                chosen[f"{DEFAULT}{field}"] = default
        for word in filter(None, map(str.strip, self.single.text().split(","))):
            field, _, key = word.partition("=")
            chosen[field.strip()] = key.strip()
        return chosen

    def accept(self) -> None:
        """Close, unless the answer makes no sense or leaves out what planning needs: then that is told below."""
        mistake = self._mistake()
        if mistake:
            self.mistake.setText(mistake[:1].upper() + mistake[1:])
            self.mistake.show()
            self.adjustSize()
            return
        super().accept()

    def _mistake(self) -> str:
        mapping = self.mapping
        there = {field.removeprefix(DEFAULT).partition(".")[0] for field in mapping}
        lacking = [field for field in NEEDED if field not in there]
        if lacking:
            return tr("{lacking} needs an attribute or a value for all nodes", lacking=lacking[0])
        try:
            fields_of(mapping, self._keys, "")
        except InputError as error:
            return str(error)
        return ""

    def _add_row(self, grid: QGridLayout, row: int, field: str, words: str, guessed: str) -> None:
        box = QComboBox()
        box.addItems([_NONE, *self._keys])
        key, _, unit = guessed.rpartition(":") if guessed.rpartition(":")[0] in self._keys else (guessed, "", "")
        box.setCurrentIndex(self._keys.index(key) + 1 if key in self._keys else 0)
        box.setAccessibleName(tr("attribute of {field}", field=field))
        self.keys[field] = box
        grid.addWidget(text_label(field, tip=words), row, 0)
        grid.addWidget(box, row, 1)
        if field in TEXTS:
            return
        default = QLineEdit()
        default.setAccessibleName(tr("{field} where it is missing", field=field))
        self.defaults[field] = default
        grid.addWidget(default, row, 3)
        kinds = _UNITS.get("size" if field in {"workspace", "parameters"} else field)
        if kinds is not None:
            units = QComboBox()
            units.addItems(kinds)
            units.setCurrentIndex(max(0, units.findText(unit)))
            units.setAccessibleName(tr("unit of {field}", field=field))
            self.units[field] = units
            default.setPlaceholderText(tr("such as 1 ms") if field == "time" else tr("such as 8 MB"))
            grid.addWidget(units, row, 2)
