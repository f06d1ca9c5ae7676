"""What all tests share: where the published instances are, and small problems of known optimum."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder beside the checkout with instances and the independent judge; tests that want it skip without it."""
    folder = Path(os.environ.get("XENGINE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not (folder / "instances" / "FORMAT.md").is_file():
        pytest.skip("the shared instances are not beside this checkout")
    return folder
