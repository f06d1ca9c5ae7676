"""What operators cost on devices: arithmetic, bytes moved, device presets, and problems made of them."""

from xengine_gui.cost.algorithms import COST_MODELS, Algorithms
from xengine_gui.cost.build import DeviceChoice, build_problem
from xengine_gui.cost.links import LINK_PRESETS, LinkPreset, default_link
from xengine_gui.cost.measured import with_measured
from xengine_gui.cost.presets import DevicePreset, device_preset, device_presets
from xengine_gui.cost.roofline import CostModel, Roofline

__all__ = [
    "COST_MODELS",
    "LINK_PRESETS",
    "Algorithms",
    "CostModel",
    "DeviceChoice",
    "DevicePreset",
    "LinkPreset",
    "Roofline",
    "build_problem",
    "default_link",
    "device_preset",
    "device_presets",
    "with_measured",
]
