"""The parts of the PyTorch importer; only `load` draws in the `torch` package."""
