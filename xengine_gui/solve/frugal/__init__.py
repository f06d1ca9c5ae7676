"""Plans that are sparing with memory, whatever they cost: how small a limit may become is seen from them."""

from xengine_gui.solve.frugal.portfolio import frugal_steps

__all__ = ["frugal_steps"]
