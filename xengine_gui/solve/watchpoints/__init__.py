"""The watch-point method: memory rows only at a few moments, more where the plan breaks a limit (see ALGORITHM.md)."""
