"""Symbolic lengths of a saved program: what they are called, what they may be, and what follows from them."""

import ast
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from xengine_gui.errors import BatchBoundError, InputError
from xengine_gui.model.json_file import show

_MOST = 2**31 - 1
_MOST_LETTERS = 2_000
_LARGEST = 2**63 - 1
_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip


def _whole(one: int, other: int) -> int:
    if one % other:
        raise ValueError
    return one // other


_FUNCTIONS: Mapping[str, Callable[..., int]] = {
    "Add": lambda *terms: sum(terms), "Mul": lambda *terms: math.prod(terms), "Integer": int, "Max": max, "Min": min,
    "FloorDiv": operator.floordiv, "CleanDiv": operator.floordiv, "Mod": operator.mod, "PythonMod": operator.mod,
    "CeilToInt": int, "TruncToInt": int, "IntTrueDiv": _whole,
}  # fmt: skip


@dataclass
class Symbols:
    """The free dimensions, by the first input and dimension that is as long as each."""

    titles: dict[str, str] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    expressions: Mapping[str, Any] = field(default_factory=dict)
    batch: str = ""

    def lengths(self) -> dict[str, int]:
        """What is shown of them: title and length."""
        return {title: self.values[symbol] for symbol, title in self.titles.items() if symbol in self.values}

    def bind(self, batch: int | None, bindings: Mapping[str, int], source: str) -> None:
        """Give them lengths; an `InputError` tells of what is not there or cannot be."""
        symbol_of = {title: symbol for symbol, title in self.titles.items()}
        mistakes = []
        wanted = dict(bindings)
        if batch is not None:
            if self.batch:
                title = self.titles[self.batch]
                if wanted.setdefault(title, batch) != batch:
                    raise BatchBoundError(source, batch, title, wanted[title])
            else:
                mistakes.append("the first dimension of its first input is fixed, so there is no batch to choose")
        for title, length in wanted.items():
            symbol = symbol_of.get(title)
            low, high = self.ranges.get(symbol or "", (1, _MOST))
            if symbol is None:
                known = f"its free dimensions are {', '.join(symbol_of)}" if symbol_of else "it has none"
                mistakes.append(f"there is no free dimension {title!r}; {known}")
            elif not low <= length <= high:
                mistakes.append(f"dimension {title!r} must be at least {low:,} and at most {high:,}, not {length:,}")
            else:
                self.values[symbol] = length
        if mistakes:
            raise InputError(source, mistakes)

    def length(self, size: Any) -> int | None:
        """A length or a step of a tensor, `None` where it depends on values."""
        whole = size.get("as_int")
        if isinstance(whole, int):
            if isinstance(whole, bool) or not 0 <= whole <= _LARGEST:
                raise ValueError(f"a length or a step of {show(whole)}")
            return whole
        found = self._evaluated(size["as_expr"]["expr_str"])
        return found if found is not None and 0 <= found <= _LARGEST else None

    def argument(self, value: Any) -> int | None:
        """A number that a call is given, perhaps by the name of a symbolic one."""
        if isinstance(value.get("as_int"), int):
            return int(value["as_int"])
        about = self.expressions.get(value.get("as_name", ""))
        return None if about is None else self.length(about)

    def _evaluated(self, text: str) -> int | None:
        if len(text) > _MOST_LETTERS:
            return None
        try:
            return self._value(ast.parse(text, mode="eval").body)
        except (SyntaxError, ValueError, TypeError, ZeroDivisionError, RecursionError, MemoryError, KeyError):
            return None

    def _value(self, tree: ast.expr) -> int:
        """Arithmetic alone: names that stand for something else than a length, and every other call, are refused."""
        if isinstance(tree, ast.Constant) and type(tree.value) is int:
            return tree.value
        if isinstance(tree, ast.Name):
            return self.values[tree.id]
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return -self._value(tree.operand)
        if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
            return _bounded(_OPERATORS[type(tree.op)](self._value(tree.left), self._value(tree.right)))
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            symbol = _symbol_of(tree)
            if symbol is not None:
                return self.values[symbol]
            if tree.func.id in _FUNCTIONS and not tree.keywords:
                return _bounded(_FUNCTIONS[tree.func.id](*map(self._value, tree.args)))
        raise ValueError


def _bounded(value: int) -> int:
    if abs(value) > _LARGEST:
        raise ValueError
    return value


def symbols_of(graph: Any, signature: Any, constraints: Mapping[str, Any]) -> Symbols:
    """The symbols that are whole dimensions of inputs, with the lengths of the examples."""
    symbols = Symbols(expressions=graph.get("sym_int_values") or {})
    first = True
    for name in _inputs(signature):
        about = graph["tensor_values"].get(name)
        for place, size in enumerate(about["sizes"] if about else ()):
            symbol = _plain_symbol(size)
            if symbol is None:
                continue
            if symbol not in symbols.titles:
                symbols.titles[symbol] = f"{name}[{place}]"
                hint = (size["as_expr"].get("hint") or {}).get("as_int")
                symbols.values[symbol] = hint if isinstance(hint, int) and hint > 0 else 1
                symbols.ranges[symbol] = _range(constraints.get(symbol) or {})
            if first and place == 0:
                symbols.batch = symbol
        first = first and about is None
    return symbols


def _inputs(signature: Any) -> Iterator[str]:
    for spec in signature["input_specs"]:
        argument = (spec.get("user_input") or {}).get("arg") or {}
        if "as_tensor" in argument:
            yield argument["as_tensor"]["name"]


def _range(about: Mapping[str, Any]) -> tuple[int, int]:
    least, most = about.get("min_val"), about.get("max_val")
    return (max(1, least) if isinstance(least, int) else 1, min(_MOST, most) if isinstance(most, int) else _MOST)


def _plain_symbol(size: Mapping[str, Any]) -> str | None:
    text = (size.get("as_expr") or {}).get("expr_str")
    if not isinstance(text, str) or len(text) > _MOST_LETTERS:
        return None
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree.id if isinstance(tree, ast.Name) else _symbol_of(tree)


def _symbol_of(tree: ast.expr) -> str | None:
    """The name in `Symbol('s0', ...)`."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "Symbol" and tree.args:
        name = tree.args[0]
        return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
    return None
