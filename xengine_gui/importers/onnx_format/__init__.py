"""The parts of the ONNX importer; only the modules that `network` draws in load the `onnx` package."""
