"""Graphs of a training step or an inference, made of a forward network."""

from xengine_gui.training.differentiate import OPTIMIZERS, training_graph
from xengine_gui.training.forward import inference_graph
from xengine_gui.training.liveness import retain_all_peak_bytes

__all__ = ["OPTIMIZERS", "inference_graph", "retain_all_peak_bytes", "training_graph"]
