"""What the window says about what it does and shows."""

from xengine_gui.language import tr
from xengine_gui.ui.document import Document
from xengine_gui.ui.planning import Planning

READY = tr("ready")
"""Nothing is being done."""


def message_of(document: Document, planning: Planning) -> str:
    """What stands where the timeline will be: a title, and a sentence below it."""
    work = document.work
    if document.busy and work is None:
        return tr("Reading…")
    if work is None:
        return tr("Open a network\nDrop an ONNX file, a problem or a plan here, or take a sample from the File menu.")
    if planning.trouble:
        return f"{'No plan exists' if planning.infeasible else 'No plan yet'}\n{planning.trouble}"
    if planning.running:
        return tr("Looking for a plan…\nThe first one is shown as soon as it is found.")
    return tr("{name}\nPress Plan (F5) to look for a plan.", name=work.problem.name)


def activity_of(document: Document, planning: Planning) -> str:
    """What the window is doing."""
    if document.busy:
        return tr("reading…")
    if planning.stopping:
        return tr("stopping…")
    return tr("planning… {elapsed_s:.1f} s", elapsed_s=planning.elapsed_s) if planning.running else READY


def trouble_of(planning: Planning) -> str:
    """Why there is no plan, in a word or two; empty where there is no trouble."""
    if not planning.trouble:
        return ""
    return "infeasible" if planning.infeasible else tr("no plan")
