"""The graph in the window: forward down on the left, backward up on the right, with what the plan does to both."""
