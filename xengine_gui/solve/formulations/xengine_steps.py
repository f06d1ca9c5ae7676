"""A solution of XEngine's model as steps: copies in an order in which they find room, frees as early as can be."""

from typing import Any

from xengine_gui.model.plan import Move, Run, Step
from xengine_gui.solve.formulations.many_devices import ManyDevices
from xengine_gui.solve.greedy.actions import Action, finished_steps, kept_devices

Key = tuple[int, int]
"""A tensor on a device: (device, tensor)."""


def xengine_steps(many: ManyDevices, model: Any) -> list[Step]:
    """The steps of the model's present solution."""
    walk = _Walk(many, model)
    for stage, slots in enumerate(many.slots):
        walk.begin(stage)
        for operator in slots:
            walk.pass_boundary(stage, operator)
            walk.run(stage, operator)
    actions = walk.actions
    return finished_steps(many.indexed, actions, kept_devices(many.indexed, actions))


class _Walk:
    """The devices while a solution is followed."""

    def __init__(self, many: ManyDevices, model: Any) -> None:
        self.many, self.indexed = many, many.indexed
        self.actions: list[Action] = []
        self.there: set[Key] = set()
        self.runs = {key for key, run in model.run.items() if run.value > 0.5}
        self.wanted = {key: there.value > 0.5 for key, there in model.there.items()}
        self.held: list[set[Key]] = [set() for _ in many.slots]
        for (t, x, d), held in model.held.items():
            if held.value > 0.5:
                self.held[t].add((d, x))
        self.copies: dict[tuple[int, int], list[tuple[int, Move]]] = {}
        for (t, o, x, r, a, b), copy in model.copy.items():
            if copy.value > 0.5:
                self.copies.setdefault((t, o), []).append((r, Move(a, b, x)))
        self.changing: dict[tuple[int, int], list[int]] = {}
        for t, o, x in many.moments:
            self.changing.setdefault((t, o), []).append(x)
        homes = {(d, p) for _, o, d, _ in self.runs for p in self.indexed.parameters[o]}
        at_home = [sum(self.indexed.parameter_bytes[p] for e, p in homes if e == d) for d in many.devices]
        limits = zip(self.indexed.limit_bytes, at_home, strict=True)
        self.room = [None if limit is None else limit - taken for limit, taken in limits]

    def begin(self, stage: int) -> None:
        """Only what the solution holds is there as a stage begins."""
        self.there &= self.held[stage]

    def pass_boundary(self, stage: int, operator: int) -> None:
        """Copy and free what the solution copies and frees in front of an operator."""
        unwanted = {
            (d, x)
            for x in self.changing.get((stage, operator), ())
            for d in self.many.devices
            if not self.wanted[stage, operator, x, d]
        }
        waiting = [move for _, move in sorted(self.copies.get((stage, operator), ()), key=lambda copy: copy[0])]
        self._free(unwanted, waiting)
        while waiting:
            ready = [move for move in waiting if (move.source, move.tensor) in self.there] or waiting
            move = next((move for move in ready if self._has_room(move)), ready[0])
            waiting.remove(move)
            self.there.add((move.destination, move.tensor))
            self.actions.append(move)
            self._free(unwanted, waiting)

    def run(self, stage: int, operator: int) -> None:
        """Run an operator where the solution runs it."""
        for way in self.many.ways[operator]:
            if (stage, operator, *way) in self.runs:
                self.actions.append(Run(way.device, operator, way.implementation))
                self.there.update((way.device, x) for x in self.indexed.outputs[operator])

    def _free(self, unwanted: set[Key], waiting: list[Move]) -> None:
        self.there -= unwanted - {(move.source, move.tensor) for move in waiting}

    def _has_room(self, move: Move) -> bool:
        room = self.room[move.destination]
        there = self.there | {(move.destination, move.tensor)}
        return room is None or sum(self.indexed.tensor_bytes[x] for d, x in there if d == move.destination) <= room
