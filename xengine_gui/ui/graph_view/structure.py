"""A problem's operators in blocks: by the parts of their names, else by where the graph narrows to one tensor.

Blocks nest, and one block holds a part of the network with its gradients and updates, so that what is drawn of a block
on the forward side has its counterpart on the backward side. Nothing here draws.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from xengine_gui.model.operator import Phase
from xengine_gui.model.problem import Problem


class Side(IntEnum):
    """Where an operator is drawn."""

    FORWARD = 0
    BACKWARD = 1
    UPDATE = 2


SIDES = {
    Phase.FORWARD: Side.FORWARD,
    Phase.LOSS: Side.FORWARD,
    Phase.BACKWARD: Side.BACKWARD,
    Phase.UPDATE: Side.UPDATE,
}
_SEPARATOR = re.compile(r"[./]|::")
_SUFFIXES = frozenset({"grad", "update"})
_NAMED_SHARE = 0.5
_MOST_SHARE = 0.9
_LONGEST_RUN = 12
_SIZE_CHANGE = 1.6
_FEW_OPERATORS = 60
_MOST_NODES = 90


@dataclass(frozen=True, slots=True)
class Block:
    """Operators that are drawn as one until they are asked for; `depth` is 0 for the outermost."""

    key: str
    title: str
    parent: str
    members: tuple[int, ...]
    depth: int


@dataclass(frozen=True)
class Structure:
    """Per operator its side, and the blocks that it is in, the outermost first."""

    problem: Problem
    sides: tuple[Side, ...]
    chains: tuple[tuple[str, ...], ...]
    blocks: Mapping[str, Block]

    def visible_of(self, operator: int, expanded: frozenset[str]) -> str:
        """The block that an operator is drawn in: its outermost one that is not expanded; empty for itself."""
        return next((key for key in self.chains[operator] if key not in expanded), "")

    def count_visible(self, expanded: frozenset[str]) -> int:
        """How many things are drawn with these blocks expanded."""
        drawn = set()
        for o, side in enumerate(self.sides):
            key = self.visible_of(o, expanded)
            drawn.add((side, key or o))
        return len(drawn)

    def default_expanded(self) -> frozenset[str]:
        """Which blocks are open at first: all of a small graph, else as many levels as can be read at once."""
        if len(self.sides) <= _FEW_OPERATORS:
            return frozenset(self.blocks)
        chosen: frozenset[str] = frozenset()
        for depth in range(max((b.depth for b in self.blocks.values()), default=-1) + 1):
            more = chosen | {b.key for b in self.blocks.values() if b.depth == depth}
            if self.count_visible(more) > _MOST_NODES:
                break
            chosen = more
        return chosen


def structure_of(problem: Problem) -> Structure:
    """The blocks of a problem."""
    sides = tuple(SIDES[o.phase] for o in problem.operators)
    forward = [o for o, side in enumerate(sides) if side is Side.FORWARD]
    paths = [_path(problem.operators[o].name, sides[o]) for o in range(len(sides))]
    named = sum(bool(paths[o]) for o in forward)
    if named < _NAMED_SHARE * len(forward) or not forward:
        paths = _paths_by_shape(problem, sides, forward)
    return _nested(problem, sides, paths)


def _path(name: str, side: Side) -> tuple[str, ...]:
    """The parts of a name before the last one; of a gradient or an update those of what it belongs to."""
    parts = [p for p in _SEPARATOR.split(name) if p]
    if side is not Side.FORWARD:
        end = next((i for i, p in enumerate(parts) if p in _SUFFIXES), None)
        if end is None:
            return ()
        parts = parts[:end]
    return tuple(parts[:-1])


def _nested(problem: Problem, sides: tuple[Side, ...], paths: Sequence[tuple[str, ...]]) -> Structure:
    members: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for o, path in enumerate(paths):
        for depth in range(1, len(path) + 1):
            members[path[:depth]].append(o)
    forward = sum(s is Side.FORWARD for s in sides)
    kept: dict[tuple[str, ...], str] = {}
    blocks: dict[str, Block] = {}
    for path, inside in sorted(members.items(), key=lambda item: (len(item[0]), item[1][0])):
        parent = next((kept[path[:d]] for d in range(len(path) - 1, 0, -1) if path[:d] in kept), "")
        ahead = sum(sides[o] is Side.FORWARD for o in inside)
        same = bool(parent) and len(blocks[parent].members) == len(inside)
        if ahead < 2 or same or ahead > _MOST_SHARE * forward:
            continue
        key = ".".join(path)
        kept[path] = key
        depth = blocks[parent].depth + 1 if parent else 0
        blocks[key] = Block(key, key, parent, tuple(inside), depth)
    chains = tuple(tuple(kept[p[:d]] for d in range(1, len(p) + 1) if p[:d] in kept) for p in paths)
    return Structure(problem, sides, chains, blocks)


# ---- names that tell nothing: the graph's own shape


def _paths_by_shape(problem: Problem, sides: tuple[Side, ...], forward: list[int]) -> list[tuple[str, ...]]:
    titles: list[tuple[str, ...]] = []
    run_of: dict[int, int] = {}
    for run in _runs(problem, forward):
        names = [problem.operators[o].name for o in run]
        run_of.update(dict.fromkeys(run, len(titles)))
        titles.append((f"{names[0]} … {names[-1]}",))
    indexed = problem.indexed
    by_parameter = {p: run_of[o] for o in reversed(forward) for p in indexed.parameters[o]}
    for o, side in enumerate(sides):
        if side is Side.BACKWARD:
            # Never later than what it waits for: so no two closed blocks wait for one another.
            makers = [indexed.producer[t] for t in indexed.inputs[o]]
            read = max((run_of[m] for m in makers if sides[m] is Side.FORWARD and m in run_of), default=None)
            waits = [run_of[m] for m in makers if sides[m] is Side.BACKWARD and m in run_of]
            known = [*waits, *([] if read is None else [read])]
            if known:
                run_of[o] = min(known)
        if side is Side.UPDATE:
            found = next((by_parameter[p] for p in indexed.parameters[o] if p in by_parameter), None)
            if found is not None:
                run_of[o] = found
    return [titles[run_of[o]] if o in run_of else () for o in range(len(sides))]


def _runs(problem: Problem, forward: list[int]) -> Iterable[list[int]]:
    """Stretches of the base order: cut where one tensor crosses, merged until something changes its size."""
    runs: list[list[int]] = []
    atom: list[int] = []
    cuts = _cuts(problem, forward)
    for o in forward:
        atom.append(o)
        if o not in cuts:
            continue
        last = runs[-1] if runs else []
        joins = last and (len(last) + len(atom) <= _LONGEST_RUN) and not _ends_run(problem, last[-1])
        if joins and (len(atom) == 1 or len(last) == 1):
            last.extend(atom)
        else:
            runs.append(atom)
        atom = []
    if atom:
        runs.append(atom)
    for run in runs:
        yield from _pieces(problem, run)


def _pieces(problem: Problem, run: list[int]) -> Iterable[list[int]]:
    """A run that is too long, cut where sizes change or at the latest after a dozen operators."""
    if len(run) <= 2 * _LONGEST_RUN:
        yield run
        return
    piece: list[int] = []
    for o in run:
        piece.append(o)
        if len(piece) >= _LONGEST_RUN or (len(piece) >= 3 and _ends_run(problem, o)):
            yield piece
            piece = []
    if piece:
        yield piece


def _cuts(problem: Problem, forward: list[int]) -> set[int]:
    """The operators after which at most one tensor is still to be read on the forward side."""
    indexed = problem.indexed
    inside = set(forward)
    last_use = {
        t: max((c for c in indexed.consumers[t] if c in inside), default=-1) for t in range(indexed.tensor_count)
    }
    crossing: set[int] = set()
    cuts = set()
    for o in forward:
        crossing.update(t for t in indexed.outputs[o] if last_use[t] > o)
        crossing = {t for t in crossing if last_use[t] > o}
        if len(crossing) <= 1:
            cuts.add(o)
    return cuts


def _ends_run(problem: Problem, operator: int) -> bool:
    """Whether an operator makes much more or much less than it reads."""
    indexed = problem.indexed
    read = max((indexed.tensor_bytes[t] for t in indexed.inputs[operator]), default=0)
    made = max((indexed.tensor_bytes[t] for t in indexed.outputs[operator]), default=0)
    return bool(read and made) and max(read, made) >= _SIZE_CHANGE * min(read, made)
