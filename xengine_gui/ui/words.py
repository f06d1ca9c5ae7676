"""What the window says about what it does and shows."""

from xengine_gui.ui.document import Document
from xengine_gui.ui.planning import Planning


def message_of(document: Document, planning: Planning) -> str:
    """What stands where the timeline will be: a title, and a sentence below it."""
    work = document.work
    if document.busy and work is None:
        return "Reading…"
    if work is None:
        return "Open a network\nDrop an ONNX file, a problem or a plan here, or take a sample from the File menu."
    if planning.trouble:
        return f"{'No plan exists' if planning.infeasible else 'No plan yet'}\n{planning.trouble}"
    if planning.running:
        return "Looking for a plan…\nThe first one is shown as soon as it is found."
    return f"{work.problem.name}\nPress Plan (F5) to look for a plan."


def activity_of(document: Document, planning: Planning) -> str:
    """What the window is doing."""
    if document.busy:
        return "reading…"
    if planning.stopping:
        return "stopping…"
    return f"planning… {planning.elapsed_s:.1f} s" if planning.running else "ready"


def trouble_of(planning: Planning) -> str:
    """Why there is no plan, in a word or two; empty where there is no trouble."""
    if not planning.trouble:
        return ""
    return "infeasible" if planning.infeasible else "no plan"
