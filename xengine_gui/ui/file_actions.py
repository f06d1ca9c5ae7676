"""Asking for files: what to open, where to write a plan or a picture."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from xengine_gui.importers import IMPORTERS
from xengine_gui.language import tr
from xengine_gui.session import SUFFIX as SESSION
from xengine_gui.ui.shown_plan import ShownPlan

_PICTURES = tr("Drawing (*.svg);;Picture (*.png);;Document (*.pdf)")


def ask_for_file(parent: QWidget, folder: Path) -> Path | None:
    """A file to open, `None` where the user thinks better of it."""
    suffixes = sorted({suffix for importer in IMPORTERS for suffix in importer.suffixes} | {".json"})
    everything = " ".join(f"*{suffix}" for suffix in (*suffixes, SESSION))
    filters = [tr("Networks, problems, plans and sessions ({everything})", everything=everything)]
    filters += [f"{i.title} ({' '.join(f'*{s}' for s in i.suffixes)})" for i in IMPORTERS]
    filters += [tr("Problem or plan (*.json)"), f"Session (*{SESSION})", tr("All files (*)")]
    name, _ = QFileDialog.getOpenFileName(parent, tr("Open"), str(folder), ";;".join(filters))
    return Path(name) if name else None


def ask_for_plan_file(parent: QWidget, shown: ShownPlan, folder: Path) -> Path | None:
    """Where to write a plan, `None` where the user thinks better of it."""
    proposal = folder / f"{file_stem(shown)}.plan.json"
    name, _ = QFileDialog.getSaveFileName(parent, tr("Save plan"), str(proposal), tr("Plan (*.json)"))
    return _with_suffix(Path(name), (".json",)) if name else None


def ask_for_session_file(parent: QWidget, proposal: Path) -> Path | None:
    """Where to write a session, `None` where the user thinks better of it."""
    name, _ = QFileDialog.getSaveFileName(parent, tr("Save session"), str(proposal), f"Session (*{SESSION})")
    return _with_suffix(Path(name), (SESSION,)) if name else None


def ask_for_picture_file(parent: QWidget, shown: ShownPlan, folder: Path) -> Path | None:
    """Where to draw a picture, `None` where the user thinks better of it."""
    proposal = folder / f"{file_stem(shown)}.svg"
    name, chosen = QFileDialog.getSaveFileName(parent, tr("Export picture"), str(proposal), _PICTURES)
    suffix = chosen[chosen.find("*") + 1 : chosen.find(")")] or ".svg"
    return _with_suffix(Path(name), (suffix, ".svg", ".png", ".pdf")) if name else None


def file_stem(shown: ShownPlan) -> str:
    """A file name without its suffix for what a plan is of."""
    name = shown.plan.problem.name or "plan"
    return "".join(c if c.isalnum() or c in "-_. " else "_" for c in name).strip(" .")[:80] or "plan"


def _with_suffix(path: Path, suffixes: tuple[str, ...]) -> Path:
    """The path as it is where its suffix is one of these, else with the first added."""
    return path if path.suffix.lower() in suffixes else path.with_name(path.name + suffixes[0])
