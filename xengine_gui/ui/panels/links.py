"""The links between the devices."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from xengine_gui.model.device import Link
from xengine_gui.ui.panels.parts import ElidedLabel, clear, column, row, text_label
from xengine_gui.units import format_bandwidth, format_duration


@dataclass(frozen=True, slots=True)
class LinkLine:
    """One line of the list: a link, or two that differ only in direction."""

    devices: str
    speed: str


def link_lines(links: Iterable[Link]) -> Iterator[LinkLine]:
    """The links as lines; both directions share one where they are alike."""
    left = {(k.source, k.destination): k for k in reversed(list(links))}
    for source, destination in reversed(list(left)):
        link = left.pop((source, destination), None)
        if link is None:
            continue
        back = left.get((destination, source))
        alike = back is not None and (back.bandwidth_bytes_per_s, back.latency_ns) == (
            link.bandwidth_bytes_per_s,
            link.latency_ns,
        )
        if alike:
            del left[destination, source]
        speed = f"{format_bandwidth(link.bandwidth_bytes_per_s)} · {format_duration(link.latency_ns)}"
        yield LinkLine(f"{source} {'⇄' if alike else '→'} {destination}", speed)


class LinksPanel(QWidget):
    """A line per link."""

    def __init__(self) -> None:
        super().__init__()
        self._column = column(spacing=4)
        self.setLayout(self._column)
        self._lines: list[LinkLine] = []
        self.show_links((), several_devices=False)

    def show_links(self, links: Iterable[Link], *, several_devices: bool) -> None:
        """Show the links of a problem."""
        lines = list(link_lines(links))
        clear(self._column)
        for line in lines:
            place = QWidget(toolTip="bandwidth and latency of one transfer")
            layout = row(ElidedLabel(line.devices), text_label(line.speed, "small"))
            layout.setStretch(0, 1)
            place.setLayout(layout)
            self._column.addWidget(place)
        if not lines:
            text = "none: nothing can be moved between the devices" if several_devices else "none: there is one device"
            self._column.addWidget(text_label(text, "muted", wrap=True))
