"""The editor of device presets: the bundled ones to look at, the user's own to change."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QScrollArea,
    QWidget,
)

from xengine_gui.cost.own_presets import FORM, own_presets_file, preset_of_form, write_own_presets
from xengine_gui.cost.preset_fields import DevicePreset
from xengine_gui.cost.presets import bundled_presets, own_presets
from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.ui.panels.parts import Panel, column, row, text_label
from xengine_gui.ui.theme import set_style_property

_SIZE = (880, 640)
_LIST_WIDTH = 290
_NEW = DevicePreset("", "", "gpu", 0, 0, 0, 0, "pcie4", "", "", own=True)


class PresetsDialog(QDialog):
    """A list of all presets and the form of the one that is chosen; every save writes the user's file whole.

    `in_use` tells per preset which device is made of it: such a preset keeps its name and stays.
    """

    changed = Signal()
    """The user's presets were written."""

    def __init__(self, in_use: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Device presets"))
        self._in_use = in_use
        self._own = list(own_presets().presets)
        self._shown = _NEW
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Presets"))
        self.list.setFixedWidth(_LIST_WIDTH)
        self.list.currentRowChanged.connect(self._choose)
        self.fields: dict[str, QLineEdit | QComboBox] = {}
        self.hints = {field.name: text_label("", "error", wrap=True) for field in FORM}
        self.message = text_label("", wrap=True)
        self.new_button, self.copy_button = QPushButton(tr("New")), QPushButton(tr("Duplicate"))
        self.remove_button, self.save_button = QPushButton(tr("Remove")), QPushButton(tr("Save"))
        self._arrange()
        self._fill()
        mistakes = own_presets().mistakes
        if mistakes:
            self._tell(
                tr(
                    "{own_presets_file}: {mistakes}. It is left out, and gone with the next save.",
                    own_presets_file=own_presets_file(),
                    mistakes=mistakes[0],
                ),
                "warning",
            )

    def _arrange(self) -> None:
        grid = QGridLayout()
        grid.setColumnStretch(1, 1)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setContentsMargins(14, 10, 14, 10)
        for line, field in enumerate(FORM):
            widget: QLineEdit | QComboBox
            if field.choices:
                widget = QComboBox()
                widget.addItems(list(field.choices))
            else:
                widget = QLineEdit(placeholderText=field.example)
                widget.textEdited.connect(lambda _text, name=field.name: self._show_mistake(name, ""))
            widget.setAccessibleName(field.title)
            self.fields[field.name] = widget
            caption = text_label(field.title, "muted")
            caption.setBuddy(widget)
            grid.addWidget(caption, 2 * line, 0)
            grid.addWidget(widget, 2 * line, 1)
            grid.addWidget(self.hints[field.name], 2 * line + 1, 1)
            self.hints[field.name].hide()
        grid.setRowStretch(2 * len(FORM), 1)
        page = Panel("preset-form")
        page.setLayout(grid)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        for button, slot in (
            (self.new_button, self.add_new),
            (self.copy_button, self.duplicate),
            (self.remove_button, self.remove),
            (self.save_button, self.save),
        ):
            button.setAutoDefault(False)
            button.clicked.connect(lambda _checked=False, slot=slot: slot())
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        close.button(QDialogButtonBox.StandardButton.Close).setAutoDefault(False)
        self.save_button.setDefault(True)
        left = column(self.list, row(self.new_button, self.copy_button, self.remove_button), spacing=10)
        right = column(area, self.message, row(self.save_button, 1, close), spacing=10)
        sides = row(spacing=14)
        sides.addLayout(left)
        sides.addLayout(right, 1)
        self.setLayout(column(sides, margins=(16, 14, 16, 14)))
        self.resize(*_SIZE)

    # --- the list

    def _presets(self) -> list[DevicePreset]:
        return [*self._own, *bundled_presets()]

    def _fill(self, key: str = "") -> None:
        """List everything, the user's own first, and choose a preset."""
        self.list.blockSignals(True)  # noqa: FBT003 - Qt's own signature
        self.list.clear()
        for preset in self._presets():
            item = QListWidgetItem(f"{preset.title or preset.key}{'  ·  own' if preset.own else ''}")
            item.setToolTip(f"{preset.key}\n{preset.summary}\n{preset.source}".strip())
            self.list.addItem(item)
        keys = [preset.key for preset in self._presets()]
        place = keys.index(key) if key in keys else 0
        self.list.setCurrentRow(place)
        self.list.blockSignals(False)  # noqa: FBT003
        self._choose(place)

    def _choose(self, place: int) -> None:
        presets = self._presets()
        if 0 <= place < len(presets):
            self._show(presets[place], editable=presets[place].own)
            used = self._in_use.get(presets[place].key)
            why = "" if presets[place].own else tr("Bundled presets stay as they are: duplicate one to change it.")
            self._tell(
                tr("{used} is made of this preset, so it keeps its name.", used=used) if used and not why else why,
                "muted",
            )

    def choose(self, key: str) -> None:
        """Choose a preset by its key."""
        self.list.setCurrentRow([preset.key for preset in self._presets()].index(key))

    # --- the form

    def _show(self, preset: DevicePreset, *, editable: bool) -> None:
        self._shown = preset
        is_new = preset.key not in [p.key for p in self._presets()]
        for field in FORM:
            widget = self.fields[field.name]
            text = "" if is_new and not preset.title and not field.choices else field.text(preset)
            if isinstance(widget, QComboBox):
                widget.setCurrentText(text)
                widget.setEnabled(editable)
            else:
                widget.setText(text)
                widget.setCursorPosition(0)
                widget.setReadOnly(not editable)
                widget.setToolTip(text)
            self._show_mistake(field.name, "")
        name = self.fields["key"]
        if isinstance(name, QLineEdit) and preset.key in self._in_use:
            name.setReadOnly(True)
        self.save_button.setEnabled(editable)
        self.copy_button.setEnabled(not is_new)
        self.remove_button.setEnabled(editable and not is_new and preset.key not in self._in_use)

    def _text(self, name: str) -> str:
        widget = self.fields[name]
        return widget.currentText() if isinstance(widget, QComboBox) else widget.text()

    def _show_mistake(self, name: str, sentence: str) -> None:
        self.hints[name].setText(f"{sentence[:1].upper()}{sentence[1:]}")
        self.hints[name].setVisible(bool(sentence))
        set_style_property(self.fields[name], "invalid", bool(sentence))

    def _tell(self, sentence: str, tone: str) -> None:
        self.message.setText(sentence)
        set_style_property(self.message, "role", tone)

    # --- what the buttons do

    def add_new(self) -> None:
        """Begin a preset with an empty form."""
        self._begin(_NEW, tr("Fill in what the maker's data sheet says, then save."))

    def duplicate(self) -> None:
        """Begin a preset with the figures of the one that is shown."""
        taken = {preset.key for preset in self._presets()}
        stem = f"my-{self._shown.key.removeprefix('my-')}"
        key = next(k for k in (stem, *(f"{stem}-{i}" for i in range(2, len(taken) + 3))) if k not in taken)
        self._begin(replace(self._shown, key=key, own=True), tr("A copy to change; it is there once it is saved."))

    def _begin(self, preset: DevicePreset, sentence: str) -> None:
        self.list.setCurrentRow(-1)
        self._show(preset, editable=True)
        self._tell(sentence, "muted")
        self.fields["key"].setFocus()

    def remove(self) -> None:
        """Take the user's preset that is shown away."""
        self._write([preset for preset in self._own if preset.key != self._shown.key], "")

    def save(self) -> bool:
        """Write what the form says if every field makes sense, else tell what is wrong beside each."""
        old = self._shown
        others = [preset for preset in self._own if preset.key != old.key]
        taken = [preset.key for preset in (*others, *bundled_presets())]
        preset, mistakes = preset_of_form({field.name: self._text(field.name) for field in FORM}, old, taken)
        for field in FORM:
            self._show_mistake(field.name, mistakes.get(field.name, ""))
        if mistakes:
            self.fields[next(field.name for field in FORM if field.name in mistakes)].setFocus()
            self._tell(tr("Not saved: mend what is marked."), "error")
            return False
        places = [p.key for p in self._own]
        presets = [preset if p.key == old.key else p for p in self._own] if old.key in places else [*self._own, preset]
        return self._write(presets, preset.key)

    def _write(self, presets: Collection[DevicePreset], key: str) -> bool:
        try:
            write_own_presets(presets)
        except InputError as error:
            self._tell(tr("Not saved: {error}", error=error), "error")
            return False
        self._own = list(presets)
        self._fill(key)
        self._tell(
            tr("Saved as {key}; --device NAME={key} takes it too.", key=key) if key else tr("Removed."), "success"
        )
        self.changed.emit()
        return True
