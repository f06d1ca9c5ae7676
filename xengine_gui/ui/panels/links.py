"""The links between the devices: a form with the bandwidth and the latency of each."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QWidget

from xengine_gui.cost import LINK_PRESETS, LinkPreset
from xengine_gui.language import tr
from xengine_gui.model.device import Link
from xengine_gui.ui.panels.parts import ElidedButton, ElidedLabel, clear, column, row, text_label
from xengine_gui.ui.panels.quantity_field import BANDWIDTH, LATENCY, QuantityField
from xengine_gui.units import format_bandwidth, format_duration

_FIELD_WIDTH = 84
_WIDEST_NAMES = 150
_ANY_WIDTH = 16_777_215
_NEW = next(preset for preset in LINK_PRESETS if preset.key == "pcie4")
"""What a link is that is added."""


@dataclass(frozen=True, slots=True)
class LinkLine:
    """One entry of the list: a link, or two that differ only in direction."""

    devices: str
    links: tuple[Link, ...]

    @property
    def speed(self) -> str:
        """Bandwidth and latency in a few words."""
        link = self.links[0]
        return f"{format_bandwidth(link.bandwidth_bytes_per_s)} · {format_duration(link.latency_ns)}"


def link_lines(links: Iterable[Link], apart: Iterable[frozenset[str]] = ()) -> Iterator[LinkLine]:
    """The links as lines; both directions share one where they are alike, unless the two devices are among `apart`."""
    left = {(k.source, k.destination): k for k in reversed(list(links))}
    for source, destination in reversed(list(left)):
        link = left.pop((source, destination), None)
        if link is None:
            continue
        back = left.get((destination, source))
        alike = back is not None and back == replace(link, source=destination, destination=source)
        if back is not None and alike and frozenset((source, destination)) not in apart:
            del left[destination, source]
            yield LinkLine(f"{source} ⇄ {destination}", (link, back))
        else:
            yield LinkLine(f"{source} → {destination}", (link,))


@dataclass(frozen=True, slots=True)
class Shown:
    """What the panel shows: links between devices, those that are not as usual, and whether they can be edited."""

    devices: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    changed: tuple[Link, ...] = ()
    editable: bool = False

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        """The pairs of devices between which nothing can be moved."""
        there = {frozenset((link.source, link.destination)) for link in self.links}
        return tuple(pair for pair in combinations(self.devices, 2) if frozenset(pair) not in there)


class LinksPanel(QWidget):
    """A card per link."""

    links_edited = Signal(str, object)
    """A few words on the edit, and the links as they are to be."""
    reset_asked = Signal(object)
    """The pairs of devices whose links are to be as usual again."""

    def __init__(self) -> None:
        super().__init__()
        self._column = column(spacing=6)
        self.add_button = QPushButton(tr("Add link"))
        self.add_button.setToolTip(tr("Let tensors be moved between two devices that have no link"))
        self._missing = QMenu(self.add_button)
        self.add_button.setMenu(self._missing)
        self.setLayout(column(self._column, self.add_button, spacing=6))
        self.cards: list[LinkCard] = []
        self._apart: set[frozenset[str]] = set()
        self._last: Shown | None = None
        self.show_links(Shown())

    def show_links(self, shown: "Shown") -> None:
        """Show the links of a problem; those that were changed can be reset."""
        if shown != self._last:
            self._last = shown
            self._show(shown)

    def _show(self, shown: "Shown") -> None:
        lines = list(link_lines(shown.links, self._apart))
        if not self.cards or [card.line.devices for card in self.cards] != [line.devices for line in lines]:
            self._rebuild(lines, several_devices=len(shown.devices) > 1)
        given = {(k.source, k.destination) for k in shown.changed}
        for card, line in zip(self.cards, lines, strict=True):
            is_changed = any((k.source, k.destination) in given for k in line.links)
            card.show_line(line, changed=is_changed, editable=shown.editable)
        missing = shown.missing if shown.editable else ()
        self.add_button.setVisible(bool(missing))
        self._missing.clear()
        for one, other in missing:
            self._missing.addAction(f"{one} ⇄ {other}").triggered.connect(self._adder(one, other))

    def _adder(self, one: str, other: str) -> Callable[[], None]:
        rate, latency_ns = _NEW.bandwidth_bytes_per_s, _NEW.latency_ns
        links = (Link(one, other, rate, latency_ns), Link(other, one, rate, latency_ns))
        return lambda: self.links_edited.emit(tr("link {one} ⇄ {other}", one=one, other=other), links)

    def _rebuild(self, lines: list[LinkLine], *, several_devices: bool) -> None:
        clear(self._column)
        self.cards = [LinkCard(line) for line in lines]
        for card in self.cards:
            card.edited.connect(self.links_edited)
            card.reset_asked.connect(self.reset_asked)
            card.apart_asked.connect(self._set_apart)
            self._column.addWidget(card)
        if not lines:
            text = (
                tr("none: nothing can be moved between the devices")
                if several_devices
                else tr("none: there is one device")
            )
            self._column.addWidget(text_label(text, "muted", wrap=True))

    def _set_apart(self, devices: frozenset[str], apart: bool) -> None:  # noqa: FBT001 - a signal's
        """Show both directions of a link as two, or as one again where they are alike."""
        (self._apart.add if apart else self._apart.discard)(devices)
        if self._last is not None:
            self._show(self._last)


class LinkCard(QFrame):
    """A link, or both directions of one."""

    edited = Signal(str, object)
    reset_asked = Signal(object)
    apart_asked = Signal(object, bool)

    def __init__(self, line: LinkLine) -> None:
        super().__init__()
        self.setProperty("card", True)  # noqa: FBT003
        self.line = line
        self.title = ElidedLabel(line.devices, "heading")
        self.title.setMaximumWidth(_WIDEST_NAMES)
        self.kind = ElidedButton()
        self.kind.setAccessibleName(tr("What the link {devices} is like", devices=line.devices))
        self.speed = text_label("", "small", tip=tr("bandwidth and latency of one transfer"))
        self.hint = text_label("", "small", wrap=True)
        self.bandwidth = QuantityField(BANDWIDTH, 1, self.hint)
        self.latency = QuantityField(LATENCY, 0, self.hint)
        for field, name in ((self.bandwidth, tr("Bandwidth")), (self.latency, tr("Latency"))):
            field.edit.setAccessibleName(tr("{name} of {devices}", name=name, devices=line.devices))
            field.setFixedWidth(_FIELD_WIDTH)
        self.bandwidth.edited.connect(lambda value: self._edit(value, None))
        self.latency.edited.connect(lambda value: self._edit(None, value))
        self._fields = QWidget()
        fields = row(self.bandwidth, 1, self.latency)
        self._fields.setLayout(fields)
        self._menu = QMenu(self.kind)
        self._menu.setToolTipsVisible(True)
        self._usual, self._directions = self._fill_menu()
        self.kind.setMenu(self._menu)
        head = row(self.title, self.kind)
        head.setStretch(0, 1)
        head.setStretch(1, 1)
        self.setLayout(column(head, self.speed, self._fields, self.hint, spacing=5, margins=(12, 7, 10, 8)))

    def _fill_menu(self) -> tuple[QAction, QAction]:
        for preset in LINK_PRESETS:
            speed = f"{format_bandwidth(preset.bandwidth_bytes_per_s)}, {format_duration(preset.latency_ns)}"
            action = self._menu.addAction(f"{preset.title}  ·  {speed}")
            action.triggered.connect(self._chooser(preset))
        self._menu.addSeparator()
        usual = self._menu.addAction(tr("As the devices have it"))
        usual.setToolTip(tr("Take the bandwidth and latency again that the presets of the devices, or the file, give"))
        usual.triggered.connect(lambda: self.reset_asked.emit({(k.source, k.destination) for k in self.line.links}))
        directions = self._menu.addAction(tr("Both directions alike"))
        directions.setCheckable(True)
        directions.triggered.connect(self._choose_directions)
        return usual, directions

    def _chooser(self, preset: LinkPreset) -> Callable[[], None]:
        return lambda: self._edit(preset.bandwidth_bytes_per_s, preset.latency_ns)

    def show_line(self, line: LinkLine, *, changed: bool, editable: bool) -> None:
        """Show what the link is, and whether it is as usual."""
        self.line = line
        link = line.links[0]
        self.bandwidth.set_value(link.bandwidth_bytes_per_s)
        self.latency.set_value(link.latency_ns)
        self.speed.setText(line.speed)
        self.speed.setVisible(not editable)
        self._fields.setVisible(editable)
        self.kind.setVisible(editable)
        self.title.setMaximumWidth(_WIDEST_NAMES if editable else _ANY_WIDTH)  # alone in its line it begins it
        self.kind.setText(_like(link) or ("changed" if changed else tr("as usual")))
        self.kind.setToolTip(tr("Changed from what the devices have") if changed else tr("As the devices have it"))
        self._usual.setEnabled(changed)
        self._directions.setChecked(len(line.links) > 1)

    def _edit(self, bandwidth_bytes_per_s: int | None, latency_ns: int | None) -> None:
        """Ask for another bandwidth or latency, `None` for that of now, in the directions of the card."""
        links = tuple(
            replace(
                link,
                bandwidth_bytes_per_s=link.bandwidth_bytes_per_s
                if bandwidth_bytes_per_s is None
                else bandwidth_bytes_per_s,
                latency_ns=link.latency_ns if latency_ns is None else latency_ns,
            )
            for link in self.line.links
        )
        self.edited.emit(tr("link {devices}", devices=self.line.devices), links)

    def _choose_directions(self, alike: bool) -> None:  # noqa: FBT001 - a signal's
        link = self.line.links[0]
        self.apart_asked.emit(frozenset((link.source, link.destination)), not alike)
        if alike and len(self.line.links) == 1:
            back = replace(link, source=link.destination, destination=link.source)
            self.edited.emit(
                tr("link {source} ⇄ {destination}", source=link.source, destination=link.destination), (link, back)
            )


def _like(link: Link) -> str:
    figures = (link.bandwidth_bytes_per_s, link.latency_ns)
    return next((p.title for p in LINK_PRESETS if (p.bandwidth_bytes_per_s, p.latency_ns) == figures), "")
