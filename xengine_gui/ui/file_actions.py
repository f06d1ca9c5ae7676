"""Asking for files: what to open, where to write a plan or a picture."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from xengine_gui.errors import InputError
from xengine_gui.importers import IMPORTERS
from xengine_gui.model.plan_file import write_plan
from xengine_gui.session import SUFFIX as SESSION
from xengine_gui.ui.picture import render_picture
from xengine_gui.ui.shown_plan import ShownPlan
from xengine_gui.ui.theme import current_theme

_PICTURES = "Drawing (*.svg);;Picture (*.png);;Document (*.pdf)"


def ask_for_file(parent: QWidget, folder: Path) -> Path | None:
    """A file to open, `None` where the user thinks better of it."""
    suffixes = sorted({suffix for importer in IMPORTERS for suffix in importer.suffixes} | {".json"})
    everything = " ".join(f"*{suffix}" for suffix in (*suffixes, SESSION))
    filters = [f"Networks, problems, plans and sessions ({everything})"]
    filters += [f"{i.title} ({' '.join(f'*{s}' for s in i.suffixes)})" for i in IMPORTERS]
    filters += ["Problem or plan (*.json)", f"Session (*{SESSION})", "All files (*)"]
    name, _ = QFileDialog.getOpenFileName(parent, "Open", str(folder), ";;".join(filters))
    return Path(name) if name else None


def save_plan(parent: QWidget, shown: ShownPlan, folder: Path) -> str:
    """Ask where, and write the plan; what was done, or why it was not, in a sentence. Raises `PlannerError`."""
    proposal = folder / f"{file_stem(shown)}.plan.json"
    name, _ = QFileDialog.getSaveFileName(parent, "Save plan", str(proposal), "Plan (*.json)")
    if not name:
        return ""
    path = _with_suffix(Path(name), (".json",))
    _writing(path, lambda: write_plan(shown.plan, path))
    return f"The plan was written to {path}."


def ask_for_session_file(parent: QWidget, proposal: Path) -> Path | None:
    """Where to write a session, `None` where the user thinks better of it."""
    name, _ = QFileDialog.getSaveFileName(parent, "Save session", str(proposal), f"Session (*{SESSION})")
    return _with_suffix(Path(name), (SESSION,)) if name else None


def export_picture(parent: QWidget, shown: ShownPlan, folder: Path) -> str:
    """Ask where, and write the picture; what was done in a sentence. Raises `PlannerError`."""
    proposal = folder / f"{file_stem(shown)}.svg"
    name, chosen = QFileDialog.getSaveFileName(parent, "Export picture", str(proposal), _PICTURES)
    if not name:
        return ""
    suffix = chosen[chosen.find("*") + 1 : chosen.find(")")] or ".svg"
    path = _with_suffix(Path(name), (suffix, ".svg", ".png", ".pdf"))
    _writing(path, lambda: render_picture(shown.plan, path, theme=current_theme().name))
    return f"The picture was written to {path}."


def file_stem(shown: ShownPlan) -> str:
    """A file name without its suffix for what a plan is of."""
    name = shown.plan.problem.name or "plan"
    return "".join(c if c.isalnum() or c in "-_. " else "_" for c in name).strip(" .")[:80] or "plan"


def _with_suffix(path: Path, suffixes: tuple[str, ...]) -> Path:
    """The path as it is where its suffix is one of these, else with the first added."""
    return path if path.suffix.lower() in suffixes else path.with_name(path.name + suffixes[0])


def _writing(path: Path, write: Callable[[], object]) -> None:
    try:
        write()
    except OSError as error:
        raise InputError(path.name, f"it could not be written: {error.strerror or error}") from error
