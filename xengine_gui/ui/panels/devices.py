"""The devices: what each is, how much memory it may use, and how full the plan makes it."""

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QMenu, QProgressBar, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from xengine_gui.cost import DeviceChoice, DevicePreset, device_preset, device_presets
from xengine_gui.language import tr
from xengine_gui.model.device import Device
from xengine_gui.schedule.peak import one_device_peak_bytes
from xengine_gui.ui.panels.parts import ElidedButton, ElidedLabel, column, fit_width, row, text_label
from xengine_gui.ui.panels.size_field import SizeField
from xengine_gui.ui.theme import set_style_property
from xengine_gui.ui.work import Work
from xengine_gui.units import format_bandwidth, format_percent, format_size, format_size_exact

_BAR_STEPS = 1000
_WIDEST_NAME = 130
_KINDS = {
    "cpu": tr("Processors"),
    "gpu": tr("Graphics cards and accelerators"),
    "igpu": tr("Integrated graphics"),
    "mcu": tr("Microcontrollers"),
    "memory": tr("Memory"),
    "storage": tr("Storage"),
}


class DevicesPanel(QWidget):
    """A card per device, and a button to add one where the problem is made from a network."""

    limit_edited = Signal(str, object)
    limit_turned = Signal(str, object)
    """The wheel has changed a limit, and may soon change it again."""
    preset_chosen = Signal(str, str)
    remove_asked = Signal(str)
    add_asked = Signal(str, str)
    """The key and the kind of a preset."""

    def __init__(self) -> None:
        super().__init__()
        self.cards: dict[str, DeviceCard] = {}
        self._column = QVBoxLayout()
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self.add_button = QPushButton(tr("Add device"))
        self.add_button.setToolTip(tr("Plan with one more device"))
        self.add_button.setMenu(_preset_menu(self.add_button, lambda p: self.add_asked.emit(p.key, p.kind)))
        self.setLayout(column(self._column, self.add_button, spacing=8))

    def show_work(self, work: Work | None, choices: tuple[DeviceChoice, ...]) -> None:
        """Show the devices of what is open, or those that the next network is opened with."""
        by_name = {c.name: c for c in choices}
        if work is None:
            devices = [_device_of(choice) for choice in choices]
        else:
            devices = list(work.problem.devices)
            by_name = {} if work.setup is None else by_name
        if list(self.cards) != [d.name for d in devices]:
            self._rebuild([d.name for d in devices])
        for device in devices:
            whole = None if work is None else partial(one_device_peak_bytes, work.problem, device.name)
            self.cards[device.name].limit.whole_bytes = whole
            self.cards[device.name].show_device(device, by_name.get(device.name), removable=len(devices) > 1)
        self.add_button.setVisible(work is None or work.setup is not None)

    def show_peaks(self, peak_bytes: Mapping[str, int], *, stale: bool) -> None:
        """Show how full a plan makes each device."""
        for name, card in self.cards.items():
            card.show_peak(peak_bytes.get(name), stale=stale)

    def _rebuild(self, names: list[str]) -> None:
        for card in self.cards.values():
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        self.cards = {name: DeviceCard(name) for name in names}
        for card in self.cards.values():
            card.limit_edited.connect(self.limit_edited)
            card.limit_turned.connect(self.limit_turned)
            card.preset_chosen.connect(self.preset_chosen)
            card.remove_asked.connect(self.remove_asked)
            self._column.addWidget(card)


class DeviceCard(QFrame):
    """One device."""

    limit_edited = Signal(str, object)
    limit_turned = Signal(str, object)
    preset_chosen = Signal(str, str)
    remove_asked = Signal(str)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setProperty("card", True)  # noqa: FBT003
        self._name = name
        self._limit_bytes: int | None = None
        self._peak_bytes: int | None = None
        self._stale = False
        self._use_shown: tuple[int | None, int | None, bool] | None = None
        self.title = ElidedLabel(name, "heading")
        self.title.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.title.setMaximumWidth(_WIDEST_NAME)
        self.preset = ElidedButton()
        self.preset.setAccessibleName(tr("Preset of {name}", name=name))
        menu = _preset_menu(self.preset, lambda preset: self.preset_chosen.emit(name, preset.key))
        menu.addSeparator()
        self._remove = menu.addAction(tr("Remove {name}", name=name))
        self._remove.triggered.connect(lambda: self.remove_asked.emit(name))
        self.preset.setMenu(menu)
        self.specification = ElidedLabel("", "small")
        self.specification.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.limit = SizeField(hint_apart=True)
        self.limit.edit.setAccessibleName(tr("Memory limit of {name}", name=name))
        fit_width(self.limit.edit, "1,023.9 MiB", 24)
        self.limit.size_edited.connect(lambda size: self.limit_edited.emit(name, size))
        self.limit.size_turned.connect(lambda size: self.limit_turned.emit(name, size))
        self.bar = QProgressBar(textVisible=False, maximum=_BAR_STEPS)
        self.bar.setAccessibleName(tr("Peak of {name} in its limit", name=name))
        self.peak = text_label("", "small")
        self.share = text_label("", "small")
        self._arrange()

    def _arrange(self) -> None:
        head = row(self.title, self.specification)
        head.setStretch(1, 1)
        caption = text_label(tr("memory limit"), "muted")
        caption.setBuddy(self.limit.edit)
        # The sentence of a refusal takes the whole width of the card, so it stands below the field and not beside it.
        layout = column(
            head,
            self.preset,
            row(caption, 1, self.limit),
            self.limit.hint,
            self.bar,
            row(self.peak, 1, self.share),
            spacing=5,
            margins=(12, 9, 10, 9),
        )
        self.setLayout(layout)

    def show_device(self, device: Device, choice: DeviceChoice | None, *, removable: bool) -> None:
        """Show what the device is, and its limit."""
        preset = None if choice is None else device_preset(choice.preset)
        self.preset.setVisible(preset is not None)
        kind = "" if device.kind == device.name else device.kind
        self.specification.setText(kind if preset is None else _specification(preset))
        if preset is not None:
            self.preset.setText(preset.title)
            self.preset.setToolTip(f"{preset.title}\n{preset.summary}\n{preset.source}")
        self._remove.setEnabled(removable)
        self._limit_bytes = device.memory_limit_bytes
        self.limit.set_size(device.memory_limit_bytes)
        self._show_use()

    def show_peak(self, peak_bytes: int | None, *, stale: bool) -> None:
        """Show the plan's peak on this device, `None` where there is no plan."""
        self._peak_bytes = peak_bytes
        self._stale = stale
        self._show_use()

    def _show_use(self) -> None:
        peak, limit = self._peak_bytes, self._limit_bytes
        now = peak, limit, self._stale
        if now == self._use_shown:
            return
        self._use_shown = now
        if peak is None:
            self.bar.setValue(0)
            self.peak.setText(tr("not planned yet"))
            self.peak.setToolTip("")
            self.share.setText("")
            return
        over = limit is not None and peak > limit
        share = peak / limit if limit else 0.0
        value = min(_BAR_STEPS, round(_BAR_STEPS * share))
        if value != self.bar.value():
            # A bar that is given a value paints itself, and all that waits, at once; so it paints when the rest does.
            self.bar.setUpdatesEnabled(False)
            self.bar.setValue(value)
            self.bar.setUpdatesEnabled(True)
        set_style_property(self.bar, "over", over)
        self.peak.setText(f"{'old peak' if self._stale else 'peak'} {format_size(peak)}")
        self.peak.setToolTip(format_size_exact(peak))
        self.share.setText(format_percent(share) if limit else "")


def _device_of(choice: DeviceChoice) -> Device:
    preset = device_preset(choice.preset)
    limit = preset.memory_bytes if choice.memory_limit_bytes is None else choice.memory_limit_bytes
    return Device(choice.name, preset.kind, limit, preset.power_uw if preset.computes else None)


def _specification(preset: DevicePreset) -> str:
    """Arithmetic and bandwidth in a line: `10.9 TFLOP/s, 336 GB/s`."""
    bandwidth = format_bandwidth(preset.bandwidth_bytes_per_s)
    if not preset.computes:
        return tr("holds tensors, {bandwidth}", bandwidth=bandwidth)
    flop = format_bandwidth(preset.peak_flop_per_s).replace("B/s", "FLOP/s")
    return f"{flop}, {bandwidth}"


def _preset_menu(parent: QWidget, chosen: Callable[[DevicePreset], None]) -> QMenu:
    """All presets, a submenu for each kind; filled anew whenever it is opened after the presets have changed."""
    menu = QMenu(parent)
    listed: list[DevicePreset] = []
    kinds: list[QMenu] = []

    def fill() -> None:
        presets = list(device_presets())
        if presets == listed:
            return
        for inner in kinds:
            menu.removeAction(inner.menuAction())
            inner.deleteLater()
        rest = menu.actions()
        listed[:], kinds[:] = presets, _preset_menus(menu, chosen)
        if rest:
            menu.insertActions(rest[0], [inner.menuAction() for inner in kinds])

    menu.aboutToShow.connect(fill)
    fill()
    return menu


def _preset_menus(menu: QMenu, chosen: Callable[[DevicePreset], None]) -> list[QMenu]:
    """A submenu at the end of a menu for each kind of device that there is, with an entry for each preset."""
    menus = []
    for kind, title in _KINDS.items():
        presets = [preset for preset in device_presets() if preset.kind == kind]
        if not presets:
            continue
        inner = menu.addMenu(title)
        inner.setToolTipsVisible(True)
        menus.append(inner)
        for preset in presets:
            action = inner.addAction(f"{preset.title}  ·  {format_size(preset.memory_bytes)}, {_specification(preset)}")
            action.setToolTip(f"{preset.summary}\n{preset.source}")
            action.triggered.connect(lambda _checked=False, preset=preset: chosen(preset))
    return menus
