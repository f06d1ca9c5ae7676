"""The timeline: what runs, is recomputed, freed and moved on each device, and its memory under its limit."""

from xengine_gui.ui.timeline.view import TimelineView

__all__ = ["TimelineView"]
