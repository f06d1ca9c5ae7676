"""Graphs that bring their own costs and sizes: nodes with attributes, whatever the file they stand in."""
