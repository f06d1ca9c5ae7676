"""Operator logs of DTR: one JSON object a line, as its PyTorch prototype writes them for its simulator.

M. Kirisame et al., Dynamic Tensor Rematerialization, ICLR 2021. Times are nanoseconds, sizes bytes.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from xengine_gui.errors import InputError
from xengine_gui.importers.base import refuse_dimensions, refuse_mapping
from xengine_gui.importers.costed.graph import DEVICE
from xengine_gui.model.device import Device
from xengine_gui.model.json_file import Json, kind_of, read_bytes, show
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Parameter, Tensor
from xengine_gui.units import LARGEST, format_count

Row = dict[str, Json]


class DtrLogImporter:
    """Makes a problem of one device of what was run: constants are parameters, views are left out."""

    key = "dtr_log"
    title = "Operator logs of DTR"
    suffixes = (".log", ".jsonl")

    def read(
        self, path: Path, *, batch: int | None, bindings: Mapping[str, int], mapping: Mapping[str, str],
        sizes: Mapping[str, int],
    ) -> Problem:  # fmt: skip
        """The problem in the file, on one device without a limit."""
        refuse_dimensions(path, batch, bindings)
        refuse_mapping(path, mapping)
        if sizes:
            raise InputError(str(path), "the log gives every size, so none is to be given")
        return problem_of_log(read_bytes(path), str(path), path.stem)


def problem_of_log(data: bytes, source: str, name: str) -> Problem:
    """The problem in the bytes of a log; the first line that cannot be used is told with its number."""
    log = _Log(source)
    rows = list(_rows(data, source))
    # What stands before the mark START was run to get ready.
    starts = [place for place, (_, row) in enumerate(rows) if _is_start(row)]
    for line, row in rows[starts[0] + 1 if starts else 0 :]:
        log.take(line, row)
    return log.problem(name)


def _rows(data: bytes, source: str) -> Iterator[tuple[int, Row]]:
    if not data.strip():
        raise InputError(source, "the file is empty")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(source, "this is not a text file") from None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            raise InputError(source, f"line {number} is no JSON object; a DTR log has one a line") from None
        if not isinstance(row, dict) or not isinstance(row.get("INSTRUCTION"), str):
            what = "has no INSTRUCTION" if isinstance(row, dict) else f"is {kind_of(row)}, not an object"
            raise InputError(source, f"line {number} {what}, so this is no DTR log")
        yield number, row


def _refuse_constant(word: str) -> float:
    raise ValueError(word)


def _is_start(row: Row) -> bool:
    return row["INSTRUCTION"] == "ANNOTATE" and row.get("ANNOTATION") == "START"


@dataclass
class _Call:
    """A call whose results are still to be described by the lines after it."""

    line: int
    name: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    time_ns: int
    sizes: dict[str, int] = field(default_factory=dict)
    aliases: dict[str, int] = field(default_factory=dict)


class _Log:
    """Takes one line after the other; `storage` says whose bytes a name stands for."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.line = 0
        self.storage: dict[str, str] = {}
        self.held: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        self.constants: set[str] = set()
        self.operators: list[Operator] = []
        self.call: _Call | None = None
        self.constant = ""
        self.backward = False
        self.views = 0
        self._takers: Mapping[str, Callable[[Row], None]] = {
            "CONSTANT": self._constant, "MEMORY": self._memory, "ALIAS": self._alias, "CALL": self._call,
            "MUTATE": self._mutate, "COPY": self._copy, "COPY_FROM": self._copy_from, "RELEASE": self._release,
            "ANNOTATE": self._annotate,
        }  # fmt: skip

    def take(self, line: int, row: Row) -> None:
        """One line of the log."""
        self.line = line
        kind = row["INSTRUCTION"]
        taker = self._takers.get(str(kind))
        if taker is None:
            raise self._wrong(f"the instruction {show(kind)} is not known")
        if kind not in {"MEMORY", "ALIAS"}:
            self._finish()
        taker(row)

    def problem(self, name: str) -> Problem:
        """The problem of all lines that were taken."""
        self._finish()
        used = {name for operator in self.operators for name in operator.parameters}
        made = [name for operator in self.operators for name in operator.outputs]
        kept = [s for s in made if self.held.get(s, 0) > 0]
        notes = ["Times and sizes are those of the log, nanoseconds and bytes; what it holds at its end is kept"]
        if self.views:
            notes.append(f"{format_count(self.views, 'view')} of other tensors left out, with their time")
        return Problem(
            name=name,
            devices=(Device(DEVICE, "", None),),
            operators=tuple(self.operators),
            tensors=tuple(Tensor(s, self.sizes[s]) for s in made),
            parameters=tuple(Parameter(s, self.sizes[s]) for s in self.sizes if s in used),
            keep=tuple(kept),
            notes="\n".join(notes),
        )

    # -- instructions

    def _constant(self, row: Row) -> None:
        name = self._new(self._name(row, "NAME"))
        self.constant = name
        self.constants.add(name)
        self.sizes[name] = 0
        self.storage[name] = name
        self.held[name] = 1

    def _memory(self, row: Row) -> None:
        name, size = self._name(row, "NAME"), self._number(row, "MEMORY")
        if self.call is not None and name in self.call.results:
            self.call.sizes[name] = size
        elif name == self.constant:
            self.sizes[name] = size
        else:
            raise self._wrong(f"MEMORY of {name!r}, which is not what the line before gives")

    def _alias(self, row: Row) -> None:
        name, place = self._name(row, "NAME"), self._number(row, "ALIAS", least=-1)
        if self.call is None or name not in self.call.results:
            raise self._wrong(f"ALIAS of {name!r}, which is not what the call before gives")
        if place >= len(self.call.inputs):
            raise self._wrong(f"ALIAS {place} of a call with {format_count(len(self.call.inputs), 'argument')}")
        self.call.aliases[name] = place

    def _call(self, row: Row) -> None:
        self.call = _Call(
            self.line,
            self._name(row, "NAME"),
            tuple(self._known(name) for name in self._names(row, "ARGS")),
            tuple(self._new(name) for name in self._names(row, "RESULT")),
            self._number(row, "TIME"),
        )
        if len(set(self.call.results)) < len(self.call.results):
            raise self._wrong("a call gives the same name twice")
        self.backward = self.backward or "backward" in self.call.name

    def _mutate(self, row: Row) -> None:
        kind, names = self._name(row, "NAME"), self._names(row, "ARGS")
        self.backward = self.backward or "backward" in kind
        inputs = tuple(self._known(name) for name in names)
        places = row.get("MUTATE")
        if not isinstance(places, list) or not all(type(p) is int and 0 <= p < len(names) for p in places):
            raise self._wrong(f"MUTATE must be a list of places among the arguments, not {show(places)}")
        changed = dict.fromkeys(inputs[int(str(place))] for place in places)
        new = {old: self._version(old) for old in changed if old not in self.constants}
        self._operator(kind, inputs, tuple(new.values()), self._number(row, "TIME"), again=len(new) == len(changed))
        for name, storage in self.storage.items():
            if storage in new:
                self.storage[name] = new[storage]
        for old, version in new.items():
            self.held[version] = self.held.pop(old, 0)

    def _copy(self, row: Row) -> None:
        target, source = self._new(self._name(row, "DST")), self._known(self._name(row, "SRC"))
        self.storage[target] = source
        self.held[source] += 1

    def _copy_from(self, row: Row) -> None:
        target, source = self._name(row, "DST"), self._known(self._name(row, "SRC"))
        self.held[self._known(target)] -= 1
        self.storage[target] = source
        self.held[source] += 1

    def _release(self, row: Row) -> None:
        # A name that the log does not know was made before START.
        storage = self.storage.pop(self._name(row, "NAME"), None)
        if storage is not None:
            self.held[storage] -= 1

    def _annotate(self, row: Row) -> None:
        self.backward = self.backward or row.get("ANNOTATION") == "BACKWARD"

    # -- parts

    def _finish(self) -> None:
        """Make an operator of the call whose results are described now."""
        call, self.call, self.constant = self.call, None, ""
        if call is None:
            return
        for name in call.results:
            if name not in call.sizes or name not in call.aliases:
                self.line = call.line
                raise self._wrong(f"the call gives {name!r}, whose MEMORY and ALIAS must follow")
        own = [name for name in call.results if call.aliases[name] < 0]
        for name in call.results:
            place = call.aliases[name]
            self.storage[name] = storage = name if place < 0 else call.inputs[place]
            self.held[storage] = self.held.get(storage, 0) + 1
        for name in own:
            self.sizes[name] = call.sizes[name]
        if own or not call.results:
            self._operator(call.name, call.inputs, tuple(own), call.time_ns)
        else:
            self.views += 1

    def _operator(
        self, kind: str, inputs: tuple[str, ...], outputs: tuple[str, ...], time_ns: int, *, again: bool = True
    ) -> None:
        read = tuple(dict.fromkeys(inputs))
        self.operators.append(
            Operator(
                name=f"{kind}_{len(self.operators)}",
                kind=kind,
                phase=Phase.BACKWARD if self.backward else Phase.FORWARD,
                inputs=tuple(name for name in read if name not in self.constants),
                outputs=outputs,
                parameters=tuple(name for name in read if name in self.constants),
                recomputable=again,
                costs={DEVICE: (Implementation(time_ns),)},
            )
        )

    def _version(self, storage: str) -> str:
        base = storage.partition("$")[0]
        number = 1
        while f"{base}${number}" in self.sizes:
            number += 1
        self.sizes[f"{base}${number}"] = self.sizes[storage]
        return f"{base}${number}"

    def _known(self, name: str) -> str:
        if name not in self.storage:
            raise self._wrong(f"{name!r} was not made before, or was released")
        return self.storage[name]

    def _new(self, name: str) -> str:
        if name in self.storage or name in self.sizes:
            raise self._wrong(f"{name!r} is made a second time")
        return name

    def _name(self, row: Row, key: str) -> str:
        value = row.get(key)
        if not isinstance(value, str) or not value or any("\ud800" <= c <= "\udfff" for c in value):
            raise self._wrong(f"{key} must be a name, not {show(value)}" if key in row else f"{key} is missing")
        return value

    def _names(self, row: Row, key: str) -> list[str]:
        value = row.get(key)
        if not isinstance(value, list):
            raise self._wrong(f"{key} must be a list of names, not {show(value)}")
        return [self._name({key: item}, key) for item in value]

    def _number(self, row: Row, key: str, *, least: int = 0) -> int:
        value = row.get(key)
        text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
        if not text.removeprefix("-").isascii() or not text.removeprefix("-").isdigit() or len(text) > 40:
            raise self._wrong(f"{key} must be a whole number, not {show(value)}")
        number = int(text)
        if not least <= number <= LARGEST:
            raise self._wrong(f"{key} must be at least {least} and at most 2^128, not {number}")
        return number

    def _wrong(self, sentence: str) -> InputError:
        return InputError(self.source, f"line {self.line}: {sentence}")
