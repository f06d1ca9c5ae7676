"""The status bar: whether the plan is verified, how good it is, and what the window is doing."""

from PySide6.QtWidgets import QPushButton, QSizePolicy, QStatusBar

from xengine_gui.language import tr
from xengine_gui.ui.panels.parts import ElidedLabel, text_label
from xengine_gui.ui.panels.summary import status_words
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.theme import set_style_property
from xengine_gui.units import format_count, format_duration


class StatusLine(QStatusBar):
    """Four figures on the left, what is going on on the right."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self.verdict = text_label("", "success")
        # With large text on a small screen they are cut rather than that the window grows beyond the screen.
        self.quality, self.total, self.counts = ElidedLabel(), ElidedLabel(), ElidedLabel()
        self.addWidget(self.verdict)
        for label in (self.quality, self.total, self.counts):
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
            self.addWidget(label)
        self.addPermanentWidget(text_label(""), 1)
        self.report = QPushButton()
        self.report.setProperty("link", True)  # noqa: FBT003 - Qt's own signature
        self.report.hide()
        self.addPermanentWidget(self.report)
        self.activity = text_label(tr("ready"), "muted")
        self.addPermanentWidget(self.activity)

    def show_plan(self, shown: ShownPlan | None, *, stale: bool, trouble: str = "") -> None:
        """Show how good a plan is; `trouble` is why there is none for the problem at hand."""
        figures = shown is not None and not trouble
        for label in (self.quality, self.total, self.counts):
            label.setVisible(figures)
        self.verdict.setVisible(figures or bool(trouble))
        if trouble:
            self._say(f"✕ {trouble}", "error")
        elif stale:
            self._say(tr("old plan"), "warning")
        else:
            self._say(tr("✓ verified"), "success")
        if shown is None:
            return
        s = shown.summary
        self.quality.setText(status_words(shown))
        makespan = (
            ""
            if s.makespan_ns is None
            else tr(" · {makespan_ns} (overlapped)", makespan_ns=format_duration(s.makespan_ns, fine=True))
        )
        self.total.setText(
            tr(
                "total {total_ns} (serial){makespan}",
                total_ns=format_duration(s.total_ns, fine=True),
                makespan=makespan,
            )
        )
        self.counts.setText(
            f"{format_count(s.recompute_count, 'recompute')} · {format_count(s.transfer_count, 'transfer')}"
        )

    def show_report(self, words: str, tip: str) -> None:
        """Offer the report of what was assumed, in a word or two; nothing where nothing was."""
        self.report.setText(words)
        self.report.setToolTip(tip)
        self.report.setVisible(bool(words))

    def show_activity(self, text: str) -> None:
        """Say what the window is doing."""
        self.activity.setText(text)

    def _say(self, text: str, role: str) -> None:
        self.verdict.setText(text)
        set_style_property(self.verdict, "role", role)
