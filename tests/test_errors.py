"""Unknown names are told with what was probably meant."""

import pytest

from xengine_gui.errors import did_you_mean, unknown_name

KNOWN = [f"rtx-{number}" for number in (3060, 3090, 4090, 5090, 5070)] + ["p100", "v100", "t4", "sd-card-mcu"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("rtx4090", "'rtx-4090'"),
        ("P100", "'p100'"),
        (" sd-card ", "'sd-card-mcu'"),
        ("card", "'sd-card-mcu'"),
        ("quantum", ""),
        ("", ""),
        ("x" * 5000, ""),
    ],
)
def test_the_nearest_name_is_meant(name: str, meant: str) -> None:
    told = did_you_mean(name, KNOWN)
    assert told.startswith(f"; did you mean {meant}" if meant else "")
    assert bool(told) is bool(meant)


def test_few_names_are_listed_and_of_many_only_where() -> None:
    assert unknown_name("link", "x", ["a"]) == "there is no link 'x'; there is only a"
    assert unknown_name("link", "x", ["a", "b"]) == "there is no link 'x'; there are a, b"
    assert unknown_name("preset", "x", KNOWN, "see there") == "there is no preset 'x'; see there"
    assert unknown_name("preset", "x", KNOWN).endswith("t4 and 1 more")
    assert unknown_name("preset", "p101", KNOWN, "see there").endswith("did you mean 'p100'? see there")
