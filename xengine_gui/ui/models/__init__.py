"""Qt models over plans; no widgets."""
