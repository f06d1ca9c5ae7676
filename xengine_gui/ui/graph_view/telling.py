"""What the graph says about a node and an edge, in plain text."""

from xengine_gui.language import tr
from xengine_gui.ui.graph_view.facts import Fate
from xengine_gui.ui.graph_view.looks import Looks, Moment
from xengine_gui.ui.timeline.details import printable
from xengine_gui.units import format_count, format_names, format_size

_MOST = 4
FATES = {
    Fate.RETAINED: tr("retained until it is read"),
    Fate.RECOMPUTED: tr("freed and computed again"),
    Fate.MOVED: tr("brought by a transfer"),
}
"""What becomes of a result before its reader has it."""


def tell_node(looks: Looks, n: int, moment: Moment | None) -> str:
    """A node: what it is, where it runs, what is computed again, what of it is in memory now."""
    problem = looks.scene.structure.problem
    node = looks.scene.nodes.nodes[n]
    lines = [printable(node.title)]
    if node.block:
        lines.append(f"{format_count(len(node.operators), 'operator')}, {node.side.name.lower()}")
    else:
        operator = problem.operators[node.operators[0]]
        lines.append(f"{operator.kind}, {operator.phase.value}")
    if looks.facts is not None:
        used = [d.name for d, share in zip(problem.devices, looks.shares[n].tolist(), strict=True) if share]
        if used:
            lines.append(tr("runs on {used}", used=format_names(used)))
        if looks.again[n]:
            lines.append(tr("recomputed: {again}", again=format_count(int(looks.again[n]), "time")))
    if looks.made_bytes[n]:
        lines.append(tr("makes {made_bytes}", made_bytes=format_size(int(looks.made_bytes[n]))))
    if looks.is_retained[n]:
        lines.append(tr("a result is retained for the backward pass"))
    if moment is not None:
        lines += [
            tr("in memory now on {name}: {live}", name=d.name, live=format_size(int(live)))
            for d, live in zip(problem.devices, moment.live_bytes[n].tolist(), strict=True)
            if live
        ]
    if node.block:
        lines.append(tr("double click or Enter opens it"))
    return "\n".join(lines)


def tell_edge(looks: Looks, e: int) -> str:
    """An edge: the tensors that go along it, and how they last."""
    problem = looks.scene.structure.problem
    source, target = looks.scene.placed.pairs[e]
    tensors = looks.scene.nodes.edges[source, target]
    names = format_names((printable(problem.tensors[t].name) for t in tensors), _MOST)
    lines = [f"{names}: {format_size(sum(problem.tensors[t].size_bytes for t in tensors))}"]
    nodes = looks.scene.nodes.nodes
    lines.append(
        tr("from {source} to {target}", source=printable(nodes[source].title), target=printable(nodes[target].title))
    )
    if looks.facts is not None:
        lines += [
            f"{format_size(int(looks.fate_bytes[e, fate]))} {told}"
            for fate, told in FATES.items()
            if looks.fate_bytes[e, fate]
        ]
    return "\n".join(lines)
