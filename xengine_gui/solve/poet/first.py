"""A first plan without recomputation: what is used last is paged out where room is short, as Belady's rule has it."""

from xengine_gui.model.plan import Drop, Move, Run, Step
from xengine_gui.solve.poet.paging import Paging


def first_steps(paging: Paging) -> list[Step] | None:
    """Every operator once; copies happen between stages. `None` where what must stay leaves too little room."""
    first = _First(paging)
    fits = all(first.compute(operator) for operator in range(paging.one.indexed.operator_count))
    return first.steps if fits else None


class _First:
    """What is where, operator by operator."""

    def __init__(self, paging: Paging) -> None:
        self.paging, self.one, self.indexed = paging, paging.one, paging.one.indexed
        self.there: set[int] = set()
        self.stored: set[int] = set()
        self.steps: list[Step] = []
        end = self.indexed.operator_count
        self.uses = [
            [*readers, *([end] if tensor in self.indexed.keep else [])]
            for tensor, readers in enumerate(self.indexed.consumers)
        ]

    def compute(self, operator: int) -> bool:
        """Bring the inputs and run the operator; false where there is no room for it."""
        own = set(self.one.touched(operator))
        self._free({x for x in self.there - own if self._next_use(x, operator) is None})
        if not self._make_room(operator, own):
            return False
        for tensor in sorted(set(self.indexed.inputs[operator]) - self.there):
            if tensor not in self.stored or self.paging.storage is None:
                return False
            self.steps.append(Move(self.paging.storage, self.one.device, tensor))
            self.there.add(tensor)
        self.steps.append(Run(self.one.device, operator, self.one.implementation[operator]))
        self.there.update(self.indexed.outputs[operator])
        return True

    def _next_use(self, tensor: int, operator: int) -> int | None:
        return next((use for use in self.uses[tensor] if use >= operator), None)

    def _make_room(self, operator: int, own: set[int]) -> bool:
        room, size = self.one.room_bytes, self.indexed.tensor_bytes
        if room is None:
            return True
        level = sum(size[x] for x in self.there | own) + self.one.workspace_bytes[operator]
        others = sorted(self.there - own, key=lambda x: (self._next_use(x, operator) or 0, size[x]))
        while level > room:
            candidates = [x for x in others if x in self.paging.pageable]
            if not candidates or self.paging.storage is None:
                return False
            tensor = candidates[-1]
            others.remove(tensor)
            level -= size[tensor]
            if tensor not in self.stored:
                self.steps.append(Move(self.one.device, self.paging.storage, tensor))
                self.stored.add(tensor)
            self._free({tensor})
        return True

    def _free(self, tensors: set[int]) -> None:
        self.steps.extend(Drop(self.one.device, x) for x in sorted(tensors))
        self.there -= tensors
