"""Plans at once, without a proof: heal what breaks a limit at the least cost per byte, then retain more where it pays."""

from xengine_gui.solve.greedy.portfolio import greedy_steps, improve_steps, repair_steps

__all__ = ["greedy_steps", "improve_steps", "repair_steps"]
