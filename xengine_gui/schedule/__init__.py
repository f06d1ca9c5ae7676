"""What a plan does: replayed, judged, put on a clock and made ready to paint."""
