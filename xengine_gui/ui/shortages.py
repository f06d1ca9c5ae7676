"""For limits that no plan keeps: in one sentence what would do and what forces it, and a button that sets it."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject

from xengine_gui import planner
from xengine_gui.language import tr
from xengine_gui.model.problem import Problem
from xengine_gui.solve.binding import BindingMoment
from xengine_gui.solve.far import in_child
from xengine_gui.solve.feasibility import SmallestLimit, smallest_limits
from xengine_gui.solve.shortage import Shortage
from xengine_gui.ui.document import Document
from xengine_gui.ui.long_job import LongJob
from xengine_gui.ui.panels.message_bar import MessageBar, Offer
from xengine_gui.ui.planning import Planning
from xengine_gui.ui.shortage_mark import ShortageMark
from xengine_gui.ui.timeline.details import printable
from xengine_gui.ui.timeline.view import TimelineView
from xengine_gui.units import format_names, format_size, format_size_exact

_TIME_S = 8.0
_NAMED = 2


@dataclass(frozen=True, slots=True)
class Told:
    """What the bar says of a shortage; `offer` is its button."""

    sentence: str
    details: str = ""
    offer: Offer | None = None
    others: tuple[Offer, ...] = ()


def button_text(small: SmallestLimit) -> str:
    """What the button of a limit says."""
    return tr(
        "Set {device} to {limit_bytes}", device=printable(small.device), limit_bytes=format_size(small.limit_bytes or 0)
    )


def button_tip(small: SmallestLimit) -> str:
    """What is known of a limit that would do."""
    exact = format_size_exact(small.limit_bytes or 0)
    if small.proved:
        return tr("{exact}: the smallest limit that does, with the other devices as they are (proved)", exact=exact)
    bound = (
        tr("; that less than {lower_bytes} cannot is proved", lower_bytes=format_size_exact(small.lower_bytes))
        if small.lower_bytes
        else ""
    )
    return tr("{exact}: the least known to do{bound}", exact=exact, bound=bound)


def sentence_of(found: Shortage, problem: Problem) -> str:
    """The shortage in one plain sentence: device, limit, smallest limit that does, and what forces it."""
    if not any(s.limit_bytes is not None for s in found.smallest):
        return printable(found.words(problem))
    small = found.closest
    given, limit = (format_size(size or 0) for size in (small.given_bytes, small.limit_bytes))
    if given == limit:
        given, limit = (format_size_exact(size or 0) for size in (small.given_bytes, small.limit_bytes))
    known = tr("is the least that does (proved)") if small.proved else tr("is the least known")
    none = tr("No plan fits") if found.proved else tr("No plan was found that fits")
    forced = "" if small.moment is None else tr(", forced {moment}", moment=_forced_by(small.moment))
    return printable(
        tr(
            "{none} {device} into {given}: {limit} {known}{forced}.",
            none=none,
            device=small.device,
            given=given,
            limit=limit,
            known=known,
            forced=forced,
        )
    )


def _forced_by(moment: BindingMoment) -> str:
    """Operator and largest tensors of a moment."""
    named = [f"{t.name} ({format_size(t.size_bytes)})" for t in moment.tensors[:_NAMED]]
    rest = len(moment.tensors) - len(named)
    if rest:
        named.append(tr("{rest} more", rest=rest))
    what = (
        tr("by {operator}", operator=moment.operator)
        if moment.operator is not None
        else tr("by the transfer of {transferred}", transferred=moment.transferred)
    )
    return tr("{what} with {named}", what=what, named=format_names(named)) if named else what


class Shortages(QObject):
    """Looks for the smallest limits once a problem is found to have no plan, in a process of its own.

    Fills the bar of troubles of the window, and marks on the timeline where the limit is too small.
    """

    def __init__(
        self,
        document: Document,
        planning: Planning,
        timeline: TimelineView,
        bar: MessageBar,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.bar = bar
        self.job = LongJob(self)
        self.mark = ShortageMark(timeline)
        self._document, self._planning = document, planning
        self._problem: Problem | None = None
        self._told: Told | None = None
        planning.state_changed.connect(self._look)
        document.work_changed.connect(self._look)
        bar.button_clicked.connect(self._do)
        self.job.finished.connect(self._finished)
        self.job.failed.connect(lambda _sentence: self._tell(None))

    def close(self) -> None:
        """End what is being looked for."""
        self.job.close()

    def _look(self) -> None:
        work, planning = self._document.work, self._planning
        problem = work.problem if work is not None and planning.trouble and not planning.running else None
        if problem is not self._problem:
            self._problem = problem
            self.job.abandon()
            self.mark.show_moment(None)
            self._told = None
            if problem is not None and any(d.memory_limit_bytes is not None for d in problem.devices):
                self._begin(problem)
        self._tell(self._told)

    def _begin(self, problem: Problem) -> None:
        if self._planning.infeasible:
            looking = tr("No plan keeps these limits; the smallest that would do are being looked for…")
            self._told = Told(looking, self._planning.trouble)

        def find(_tell: Callable[[object], None], stop: threading.Event) -> Shortage | None:
            return in_child(shortage_of, problem, stop=stop)

        self.job.start(find)

    def _finished(self, found: Shortage | None) -> None:
        problem = self._problem
        if problem is None or found is None or found.plan is not None or not self._planning.trouble:
            self._tell(None)
            return
        small = sorted((s for s in found.smallest if s.limit_bytes is not None), key=lambda s: s is not found.closest)
        offers: list[Offer] = [(button_text(s), button_tip(s), self._setter(s)) for s in small]
        # An operator that is too large alone is the whole reason; else the moment that the limits fail at is told.
        words = "" if found.too_large is not None else found.words(problem)
        details = "\n".join(dict.fromkeys(printable(part) for part in (self._planning.trouble, words) if part))
        self.mark.show_moment(found, problem)
        self._tell(Told(sentence_of(found, problem), details, offers[0] if offers else None, tuple(offers[1:])))

    def _setter(self, small: SmallestLimit) -> Callable[[], object]:
        return lambda: self._document.set_limit(small.device, small.limit_bytes)

    def _do(self) -> None:
        if self._told is not None and self._told.offer is not None:
            self._told.offer[2]()
        else:
            self._planning.plan()

    def _tell(self, told: Told | None) -> None:
        self._told = told
        trouble = self._planning.trouble
        if not trouble:
            self.bar.hide()
            return
        told = told or Told(printable(trouble))
        title, tip, _ = told.offer or (
            "" if self._planning.infeasible or self.job.running else tr("Plan again"),
            "",
            None,
        )
        details = told.details if told.details != told.sentence else ""
        self.bar.show_message(told.sentence, "error", button=title, tip=tip, details=details, offers=told.others)


def shortage_of(problem: Problem) -> Shortage:
    """What a problem lacks, as far as it is found out in a few seconds."""
    found = planner.shortage(problem, time_s=_TIME_S)
    if found.smallest or found.plan is not None:
        return found
    return replace(found, smallest=smallest_limits(problem, None, _TIME_S, infeasible=found.proved))
