"""Plans at once, without a proof: walk through a script, let go the tensors that cost least per byte, improve."""

from xengine_gui.solve.greedy.portfolio import greedy_steps, improve_steps, repair_steps

__all__ = ["greedy_steps", "improve_steps", "repair_steps"]
