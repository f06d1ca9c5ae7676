"""The bar below the timeline and the graph that plays a plan, with a sentence for the present event."""

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt
from PySide6.QtWidgets import QComboBox, QSizePolicy, QSlider, QToolButton

from xengine_gui.language import tr
from xengine_gui.schedule.narrate import Narrator
from xengine_gui.ui.actions import icon
from xengine_gui.ui.background import Background
from xengine_gui.ui.panels.parts import ElidedLabel, Panel, column, row
from xengine_gui.ui.playback import SPEEDS, Playback
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.theme import current_theme
from xengine_gui.ui.timeline.details import printable
from xengine_gui.units import format_duration

_BUTTONS = (
    ("first", tr("To the first event"), tr("Go back to the first event")),
    ("back", tr("One event back"), tr("Go one event back")),
    ("play", tr("Play"), tr("Play the plan event by event (Space)")),
    ("on", tr("One event on"), tr("Go one event on")),
)
_ICONS = {"first": "to_start", "back": "step_back", "play": "play", "on": "step_on"}


class PlaybackBar(Panel):
    """Buttons, a slider over all events, the speed; below them what happens now in a sentence."""

    def __init__(self, playback: Playback) -> None:
        super().__init__("playback-bar")
        self.playback = playback
        self._narrator: Narrator | None = None
        self._narrated: ShownPlan | None = None
        self._background = Background(self)
        self.buttons = {key: _button(name, tip) for key, name, tip in _BUTTONS}
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(tr("Event of the plan"))
        self.slider.setToolTip(tr("Go to an event of the plan"))
        self.slider.setPageStep(10)
        self.place = ElidedLabel("", "small")
        self.place.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.speed = QComboBox()
        self.speed.addItems([name for name, _ in SPEEDS])
        self.speed.setCurrentIndex(1)
        self.speed.setAccessibleName(tr("Speed of playing"))
        self.speed.setToolTip(tr("How fast the plan is played"))
        self.sentence = ElidedLabel("", "")
        self.sentence.setAccessibleName(tr("What happens now"))
        controls = row(*self.buttons.values(), self.slider, self.place, self.speed, spacing=6)
        controls.setStretch(len(self.buttons), 1)
        self.setLayout(column(controls, self.sentence, spacing=2, margins=(10, 4, 10, 5)))
        self._connect()
        self._dress()
        self._show_state()

    def close_jobs(self) -> None:
        """The window closes."""
        self.playback.pause()
        self._background.close()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._dress()

    def _connect(self) -> None:
        playback = self.playback
        self.buttons["first"].clicked.connect(lambda: playback.go_to(0))
        self.buttons["back"].clicked.connect(lambda: playback.step(-1))
        self.buttons["play"].clicked.connect(playback.toggle)
        self.buttons["on"].clicked.connect(lambda: playback.step(1))
        self.slider.valueChanged.connect(playback.go_to)
        self.speed.currentIndexChanged.connect(lambda i: playback.set_speed(SPEEDS[i][1]))
        playback.moved.connect(self._show_place)
        playback.state_changed.connect(self._show_state)

    def _dress(self) -> None:
        theme = current_theme()
        for key, button in self.buttons.items():
            name = "pause" if key == "play" and self.playback.playing else _ICONS[key]
            button.setIcon(icon(name, theme.text, theme.text_disabled))

    def _show_state(self) -> None:
        playback = self.playback
        self.setVisible(playback.count > 0)
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, max(0, playback.count - 1))
        play = self.buttons["play"]
        play.setAccessibleName(tr("Pause") if playback.playing else tr("Play"))
        play.setToolTip(tr("Pause (Space)") if playback.playing else tr("Play the plan event by event (Space)"))
        self._dress()
        self._show_place()

    def _show_place(self) -> None:
        playback = self.playback
        at, shown = playback.position, playback.shown
        with QSignalBlocker(self.slider):
            self.slider.setValue(max(0, at))
        self.buttons["back"].setEnabled(at > 0)
        self.buttons["first"].setEnabled(at > 0)
        self.buttons["on"].setEnabled(at < playback.count - 1)
        if shown is None:
            self.place.setText("")
            self.sentence.setText("")
        elif at < 0:
            self.place.setText(tr("{count:,} events", count=playback.count))
            self.sentence.setText(_sentence(shown.headline))
        else:
            moment = format_duration(shown.plan.events[at].start_ns)
            self.place.setText(tr("{at:,} of {count:,}, at {moment}", at=at + 1, count=playback.count, moment=moment))
            self._tell(shown, at)

    def _tell(self, shown: ShownPlan, at: int) -> None:
        """Say the sentence of an event, as soon as the one who tells is there: that takes a replay of the plan."""
        if self._narrator is not None and self._narrated is shown:
            self.sentence.setText(_sentence(self._narrator.sentence(at)))
            return
        self.sentence.setText("…")
        if self._background.busy and self._narrated is shown:
            return
        self._narrated, self._narrator = shown, None

        def done(narrator: Narrator) -> None:
            self._narrator = narrator
            self._show_place()

        self._background.run(lambda: Narrator(shown.plan), done, self.sentence.setText)


def _sentence(text: str) -> str:
    text = printable(text)
    return f"{text[:1].upper()}{text[1:]}."


def _button(name: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setAccessibleName(name)
    button.setToolTip(tip)
    button.setIconSize(QSize(14, 14))
    button.setAutoRepeat(name.startswith("One"))
    return button
