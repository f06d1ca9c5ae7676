"""The list of strategies; menus, option forms and contract tests are made from it."""

from xengine_gui.errors import InputError, unknown_name
from xengine_gui.solve.base import Strategy
from xengine_gui.solve.checkpointing.chen_greedy import ChenGreedy
from xengine_gui.solve.checkpointing.chen_sqrt import ChenSqrt
from xengine_gui.solve.checkpointing.retain_last import RetainLast
from xengine_gui.solve.checkpointing.revolve import Revolve
from xengine_gui.solve.formulations.monet_strategy import Monet
from xengine_gui.solve.formulations.rounding_strategy import CheckmateRounding
from xengine_gui.solve.formulations.strategy import Checkmate
from xengine_gui.solve.formulations.xengine_paper_strategy import XEnginePaper
from xengine_gui.solve.formulations.xengine_strategy import XEngine
from xengine_gui.solve.greedy.strategy import Greedy
from xengine_gui.solve.moccasin.strategy import Moccasin
from xengine_gui.solve.online.delta import Delta
from xengine_gui.solve.online.dtr import DynamicTensorRematerialization
from xengine_gui.solve.poet.strategy import Poet
from xengine_gui.solve.retain_all import RetainAll
from xengine_gui.solve.rotor.strategy import Rotor
from xengine_gui.solve.watchpoints.strategy import Optimal

STRATEGIES: tuple[Strategy, ...] = (
    Optimal(),
    Greedy(),
    RetainAll(),
    Checkmate(),
    CheckmateRounding(),
    XEngine(),
    XEnginePaper(),
    DynamicTensorRematerialization(),
    Delta(),
    Monet(),
    RetainLast(),
    ChenSqrt(),
    ChenGreedy(),
    Revolve(),
    Rotor(),
    Moccasin(),
    Poet(),
)


def strategy(key: str) -> Strategy:
    """The strategy called `key`; an `InputError` names those there are."""
    for candidate in STRATEGIES:
        if candidate.key == key:
            return candidate
    where = "`xengine strategies` tells them all"
    raise InputError("", unknown_name("strategy", key, (s.key for s in STRATEGIES), where))
