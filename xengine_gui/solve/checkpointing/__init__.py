"""Checkpointing heuristics of the literature: which forward tensors are retained decides the whole plan."""
