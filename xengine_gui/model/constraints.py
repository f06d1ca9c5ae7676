"""What the user demands of every plan: tensors that are retained, operators that run once or on one device only.

A problem under constraints is again a plain problem, written with what problem files have: costs of the other devices
are dropped, operators are made not recomputable, and a link that one tensor may not take is replaced by the transfers
that remain. So every strategy, the judge and the file format know constraints without a word about them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from xengine_gui.errors import InputError
from xengine_gui.model.device import TransferTime
from xengine_gui.model.json_file import Json
from xengine_gui.model.problem import Problem


class Rule(StrEnum):
    """The kinds of constraints, as session files call them."""

    RETAIN = "retain"
    COMPUTE_ONCE = "compute_once"
    RUN_ON = "run_on"


@dataclass(frozen=True, slots=True)
class Constraint:
    """A rule for one tensor (`retain`) or one operator; `device` is empty where the rule names none."""

    rule: Rule
    name: str
    device: str = ""

    @property
    def title(self) -> str:
        """The constraint in a few words: `retain relu_3 on gpu`."""
        match self.rule:
            case Rule.RETAIN:
                return f"retain {self.name} on {self.device}"
            case Rule.COMPUTE_ONCE:
                return f"never recompute {self.name}"
        return f"run {self.name} on {self.device}"

    @property
    def meaning(self) -> str:
        """What exactly is demanded, in a sentence or two."""
        match self.rule:
            case Rule.RETAIN:
                return (
                    f"It is computed once, on {self.device}, and stays there from then until its last use there: never "
                    "computed again, never brought back. It may be copied to other devices. Whatever else its operator "
                    "makes is computed once, too."
                )
            case Rule.COMPUTE_ONCE:
                return "It is computed once; its results stay somewhere, or are moved, until their last use."
        return f"It runs on {self.device} alone, the first time and every time again."


def constrained(problem: Problem, constraints: Iterable[Constraint]) -> Problem:
    """The problem with the constraints built in; an `InputError` lists those that cannot hold.

    Operators are as many and in the same order. A link that is replaced by single transfers loses its power figure.
    """
    result, idle = as_far_as_possible(problem, tuple(constraints))
    if idle:
        raise InputError(problem.name, [f"{c.title}: {why}" for c, why in idle.items()])
    return result


def as_far_as_possible(problem: Problem, constraints: Sequence[Constraint]) -> tuple[Problem, Mapping[Constraint, str]]:
    """The problem with every constraint that can hold, and why each of the others cannot, in a sentence."""
    idle: dict[Constraint, str] = {}
    changed = {operator.name: operator for operator in problem.operators}
    makers = {tensor: operator.name for operator in problem.operators for tensor in operator.outputs}
    shut: list[tuple[str, str]] = []
    for constraint in dict.fromkeys(constraints):
        name = makers.get(constraint.name) if constraint.rule is Rule.RETAIN else constraint.name
        operator = changed.get(name or "")
        if operator is None:
            what = "tensor" if constraint.rule is Rule.RETAIN else "operator"
            idle[constraint] = f"there is no {what} of this name"
            continue
        if constraint.device and not operator.costs.get(constraint.device):
            known = any(d.name == constraint.device for d in problem.devices)
            why = f"{operator.name} cannot run on {constraint.device}"
            idle[constraint] = why if known else f"there is no device {constraint.device!r}"
            continue
        if constraint.device:
            operator = replace(operator, costs={constraint.device: operator.costs[constraint.device]})
        if constraint.rule is not Rule.RUN_ON:
            operator = replace(operator, recomputable=False)
        if constraint.rule is Rule.RETAIN:
            shut.append((constraint.name, constraint.device))
        changed[operator.name] = operator
    operators = tuple(changed.values())
    if all(new is old for new, old in zip(operators, problem.operators, strict=True)):
        return problem, idle
    return _shut(replace(problem, operators=operators), shut), idle


def _shut(problem: Problem, shut: Sequence[tuple[str, str]]) -> Problem:
    """The problem where the given tensors cannot be brought to the given devices."""
    for device in dict.fromkeys(device for _, device in shut):
        problem = _shut_for(problem, {tensor for tensor, there in shut if there == device}, device)
    return problem


def _shut_for(problem: Problem, tensors: set[str], device: str) -> Problem:
    links = {link.source: link for link in reversed(problem.links) if link.destination == device}
    given = [row for row in problem.transfers if row.destination != device or row.tensor not in tensors]
    known = {(row.tensor, row.source) for row in given if row.destination == device}
    rows = [
        TransferTime(tensor.name, source, device, link.transfer_ns(tensor.size_bytes))
        for source, link in sorted(links.items())
        for tensor in problem.tensors
        if tensor.name not in tensors and (tensor.name, source) not in known
    ]
    kept = tuple(link for link in problem.links if link.destination != device)
    return replace(problem, links=kept, transfers=(*given, *rows))


def with_added(constraints: Sequence[Constraint], added: Constraint) -> tuple[Constraint, ...]:
    """The constraints with another one, in place of an earlier one of its rule for the same thing."""
    others = (c for c in constraints if (c.rule, c.name) != (added.rule, added.name))
    return (*others, added)


def constraint_to_json(constraint: Constraint) -> dict[str, Json]:
    """A constraint as an object of a session file."""
    device: dict[str, Json] = {"device": constraint.device} if constraint.device else {}
    return {str(constraint.rule): constraint.name, **device}


def constraint_from_json(row: Json) -> Constraint | None:
    """The constraint in a session file's object; `None` where this version does not understand it."""
    if not isinstance(row, dict):
        return None
    rules = [rule for rule in Rule if rule in row]
    if len(rules) != 1 or not set(row) <= {str(rules[0]), "device"}:
        return None
    name, device = row[rules[0]], row.get("device", "")
    wants_device = rules[0] is not Rule.COMPUTE_ONCE
    if not isinstance(name, str) or not isinstance(device, str) or bool(device) != wants_device:
        return None
    return Constraint(rules[0], name, device)
