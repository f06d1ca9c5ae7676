"""rotor: the best persistent way through a chain whose stages differ, by a dynamic programme."""
