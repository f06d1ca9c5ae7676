"""Which strategies are meant by a list of names."""

from xengine_gui.errors import InputError

EVERY = "all"


def chosen_strategies(text: str) -> list[str]:
    """The keys in a list such as `optimal,greedy`, or all there are; an `InputError` names those there are."""
    from xengine_gui.solve.strategies import STRATEGIES, strategy  # noqa: PLC0415 - solvers load slowly

    keys = [word.strip() for word in text.split(",") if word.strip()]
    if not keys:
        raise InputError("--strategies", "name at least one, as in optimal,greedy, or all")
    chosen = [strategy(key).key for key in keys if key.lower() != EVERY]
    every = [candidate.key for candidate in STRATEGIES] if len(chosen) < len(keys) else []
    return list(dict.fromkeys([*chosen, *every]))
