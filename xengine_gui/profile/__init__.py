"""Measuring what operators take on this machine's processor, each alone, with ONNX Runtime (the extra `profile`)."""

from xengine_gui.profile.measure import ProfileOptions, profile

__all__ = ["ProfileOptions", "profile"]
