"""Strategies: from a problem to a plan."""
