"""The window's panels: each shows one thing and tells what was done in it by signals."""
