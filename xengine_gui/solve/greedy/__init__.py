"""Plans at once, without a proof: heal what breaks a limit where that costs least, then retain more."""

from xengine_gui.solve.greedy.portfolio import greedy_steps, improve_steps, repair_steps

__all__ = ["greedy_steps", "improve_steps", "repair_steps"]
