"""A field for a memory size in any sensible unit, which refuses anything else in place."""

import re
from collections.abc import Callable
from decimal import Decimal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from xengine_gui.errors import InputError
from xengine_gui.language import tr
from xengine_gui.ui.panels.entry import EntryEdit, show_hint
from xengine_gui.ui.panels.parts import column, text_label
from xengine_gui.units import BARE_LETTER_RULE, format_size, format_size_exact, parse_size_bytes

UNLIMITED = "unlimited"
_NOTCH = 120
_STEPS_PER_SIZE = 40
_SHARE = re.compile(r"\s*(\d{1,6}(?:[.,]\d{1,6})?)\s*%\s*")
_COMES_BY = (Qt.FocusReason.MouseFocusReason, Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)
_BARE_LETTER = re.compile(r"[\d.,_]\s*[kmgtKMGT]\s*$")


class SizeField(QWidget):
    """Shows a size, and tells a new one once it is entered and makes sense.

    What makes no sense stays in the field to be mended, with a red border and a sentence below, and the size stays what
    it was. Escape brings it back. With `hint_apart` the owner finds a place for `hint`. With `whole_bytes` a share such
    as 50 % of what that tells is a size too.
    """

    size_edited = Signal(object)
    """The new size in bytes, `None` for unlimited."""
    size_turned = Signal(object)
    """The wheel was turned over the field while it has the focus: the new size in bytes."""

    def __init__(self, size_bytes: int | None = None, *, hint_apart: bool = False) -> None:
        super().__init__()
        self._size_bytes = size_bytes
        self.whole_bytes: Callable[[], int] | None = None
        self.edit = _Edit()
        self.edit.setPlaceholderText(tr("such as 8 GiB"))
        self.hint = text_label("", "small", wrap=True)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.hint.hide()
        self.setLayout(column(self.edit, None if hint_apart else self.hint, spacing=3))
        self.edit.come_to.connect(self._begun)
        self.edit.left.connect(self._left)
        self.edit.textEdited.connect(self._typed)
        self.edit.editingFinished.connect(self._entered)
        self.edit.given_up.connect(self._restore)
        self.edit.turned.connect(self._turned)
        self.setFocusProxy(self.edit)
        self._restore()

    @property
    def size_bytes(self) -> int | None:
        """The size that holds, whatever is being typed."""
        return self._size_bytes

    def set_size(self, size_bytes: int | None) -> None:
        """Show another size; a field that somebody is typing in is left alone unless the size has changed."""
        if size_bytes != self._size_bytes or not self.edit.hasFocus():
            self._size_bytes = size_bytes
            self._restore()

    def _typed(self, text: str) -> None:
        size_bytes, mistake = _read(text, self.whole_bytes)
        self._show_hint("" if mistake else _echo(text, size_bytes, self.whole_bytes), wrong=False)

    def _begun(self) -> None:
        """Say what can be typed, to somebody who has come to the field and types nothing yet."""
        share = "" if self.whole_bytes is None else tr("a share such as 50 %, ")
        self._show_hint(
            tr("A size such as 8 GiB, {share}or {unlimited}", share=share, unlimited=UNLIMITED), wrong=False
        )

    def _left(self) -> None:
        """Nothing was typed: what can be typed need not be said any more."""
        if self.edit.text() == _shown(self._size_bytes):
            self._show_hint("", wrong=False)

    def _entered(self) -> None:
        if self.edit.text() == _shown(self._size_bytes):
            self._show_hint("", wrong=False)
            return
        size_bytes, mistake = _read(self.edit.text(), self.whole_bytes)
        if mistake:
            self._show_hint(mistake, wrong=True)
            return
        changed = size_bytes != self._size_bytes
        self._size_bytes = size_bytes
        self._restore()
        if changed:
            self.size_edited.emit(size_bytes)

    def _turned(self, notches: int) -> None:
        """Some percent more or less per notch, in a step that is a round number of bytes."""
        size_bytes, mistake = _read(self.edit.text(), self.whole_bytes)
        if mistake or size_bytes is None or not notches:
            return
        step = 1 << max(0, (size_bytes // _STEPS_PER_SIZE).bit_length() - 1)
        turned = max(step, (size_bytes // step + notches) * step)
        self._size_bytes = turned
        self._restore()
        self.size_turned.emit(turned)

    def _restore(self) -> None:
        self.edit.setText(_shown(self._size_bytes))
        exact = tr("no limit") if self._size_bytes is None else format_size_exact(self._size_bytes)
        share = "" if self.whole_bytes is None else tr("\n50 % is half of what the whole graph would take here")
        self.edit.setToolTip(
            tr(
                "{exact}\n{bare_letter_rule}; GB is 10⁹ bytes, GiB 2³⁰; “{unlimited}” for no limit{share}",
                exact=exact,
                bare_letter_rule=BARE_LETTER_RULE,
                unlimited=UNLIMITED,
                share=share,
            )
        )
        self._show_hint("", wrong=False)

    def _show_hint(self, text: str, *, wrong: bool) -> None:
        show_hint(self.edit, self.hint, text, wrong=wrong)


class _Edit(EntryEdit):
    come_to = Signal()
    """It has the focus now, which came by a click or by Tab."""
    left = Signal()
    turned = Signal(int)
    """Notches of the wheel, upwards positive."""

    def __init__(self) -> None:
        super().__init__()
        self._rest = 0

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Without the focus the wheel scrolls the panel, as it does everywhere else."""
        if not self.hasFocus():
            event.ignore()
            return
        notches, self._rest = divmod(self._rest + event.angleDelta().y(), _NOTCH)
        self.turned.emit(notches)
        event.accept()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in _COMES_BY:
            self.come_to.emit()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()


def _shown(size_bytes: int | None) -> str:
    return UNLIMITED if size_bytes is None else format_size(size_bytes)


def _read(text: str, whole_bytes: Callable[[], int] | None) -> tuple[int | None, str]:
    if text.strip().lower() in (UNLIMITED, "none", "∞"):
        return None, ""
    share = None if whole_bytes is None else _SHARE.fullmatch(text)
    try:
        if share is not None and whole_bytes is not None:
            size_bytes = int(whole_bytes() * Decimal(share[1].replace(",", ".")) / 100)
        else:
            size_bytes = parse_size_bytes(text)
    except InputError as error:
        return None, _sentence(str(error))
    if size_bytes == 0:
        return None, tr("A limit of 0 bytes leaves no room for anything.")
    return size_bytes, ""


def _echo(text: str, size_bytes: int | None, whole_bytes: Callable[[], int] | None) -> str:
    if size_bytes is None:
        return tr("no limit")
    share = None if whole_bytes is None else _SHARE.fullmatch(text)
    if share is not None and whole_bytes is not None:
        whole = format_size(whole_bytes())
        return tr(
            "{share} % of {whole} (everything retained): {size_bytes}",
            share=share[1],
            whole=whole,
            size_bytes=format_size_exact(size_bytes),
        )
    rule = f"{BARE_LETTER_RULE}: " if _BARE_LETTER.search(text) else ""
    return f"{rule}{format_size_exact(size_bytes)}"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."
