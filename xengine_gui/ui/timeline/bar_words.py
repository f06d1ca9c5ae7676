"""What stands in the bars of computations."""

from enum import Enum

from xengine_gui.language import tr


class Labels(Enum):
    """Which words a bar has, as far as they fit."""

    NAMES = "names"
    KINDS = "kinds"
    BOTH = "both"
    NONE = "none"


LABEL_TITLES = {
    Labels.NAMES.value: tr("Names, or kinds where names do not fit"),
    Labels.KINDS.value: tr("Kinds of operators"),
    Labels.BOTH.value: tr("Names with kinds"),
    Labels.NONE.value: tr("None"),
}


def wordings(labels: Labels, name: str, kind: str | None) -> tuple[str, ...]:
    """What may stand in a bar, the best first; `kind` is `None` where the bar is no computation."""
    if labels is Labels.NONE:
        return ()
    if kind is None:
        return (name,)
    if labels is Labels.KINDS:
        return (kind,)
    return (f"{name} · {kind}", name, kind) if labels is Labels.BOTH else (name, kind)
