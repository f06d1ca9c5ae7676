"""What of a drawing the shared selection marks."""

from dataclasses import dataclass

from xengine_gui.model.plan import Compute
from xengine_gui.ui.graph_view.looks import Looks
from xengine_gui.ui.selection import Kind, Selection
from xengine_gui.ui.shown_plan import ShownPlan


@dataclass(frozen=True, slots=True)
class Lit:
    """`chosen` is the node of what is selected (-1: none), the others are what it is joined to."""

    chosen: int = -1
    nodes: frozenset[int] = frozenset()
    edges: frozenset[int] = frozenset()


def lit_by(selection: Selection, looks: Looks, shown: ShownPlan | None) -> Lit:
    """An operator with its edges; a tensor with its producer, its readers and the edges that it takes."""
    problem = looks.scene.structure.problem
    name, kind = selection.name, selection.kind
    if kind is Kind.EVENT and shown is not None and 0 <= selection.event < len(shown.plan.events):
        kind = Kind.OPERATOR if isinstance(shown.plan.events[selection.event], Compute) else Kind.TENSOR
    if kind is Kind.OPERATOR:
        found = next((o for o, one in enumerate(problem.operators) if one.name == name), None)
        if found is None:
            return Lit()
        node = looks.scene.nodes.of_operator[found]
        edges = looks.scene.edges_of.get(node, ())
        near = {n for e in edges for n in looks.scene.placed.pairs[e]} - {node}
        return Lit(node, frozenset(near), frozenset(edges))
    if kind is Kind.TENSOR:
        tensor = next((t for t, one in enumerate(problem.tensors) if one.name == name), None)
        if tensor is None:
            return Lit()
        node = int(looks.node_of_tensor[tensor])
        edges = tuple(
            e
            for e in looks.scene.edges_of.get(node, ())
            if looks.scene.placed.pairs[e][0] == node and tensor in looks.scene.nodes.edges[looks.scene.placed.pairs[e]]
        )
        near = {looks.scene.placed.pairs[e][1] for e in edges}
        return Lit(node, frozenset(near), frozenset(edges))
    return Lit()
