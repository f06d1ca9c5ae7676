"""Presets of the user's own: a file, a form, and the command line."""

import json
from pathlib import Path

import pytest

from xengine_gui.cli import main
from xengine_gui.cost import device_preset, device_presets
from xengine_gui.cost.own_presets import FORM, own_presets_file, preset_of_form, read_own_presets, write_own_presets
from xengine_gui.cost.presets import bundled_presets, own_presets
from xengine_gui.errors import InputError
from xengine_gui.paths import sample_graphs

Captured = pytest.CaptureFixture[str]
P100 = device_preset("p100")
GOOD = {
    "key": "my-gpu", "title": "Mine", "kind": "gpu", "memory": "8 GiB", "peak": "10 TFLOP/s", "matrix": "",
    "bandwidth": "300 GB/s", "launch": "5 µs", "bus": "pcie4", "efficiency_matrix": "60 %", "efficiency_depthwise": "",
    "efficiency_vector": "", "efficiency_memory": "0.8", "power": "120 W", "summary": "", "source": "measured",
}  # fmt: skip


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "config"
    monkeypatch.setattr("xengine_gui.paths.config_folder", lambda: folder)
    return folder


def made(**changes: str):
    return preset_of_form({**GOOD, **changes}, P100, ["taken"])


def test_a_form_is_read() -> None:
    preset, mistakes = made()
    assert not mistakes
    assert preset.own
    assert (preset.key, preset.memory_bytes, preset.peak_flop_per_s) == ("my-gpu", 8 * 2**30, 10**13)
    assert (preset.bandwidth_bytes_per_s, preset.launch_ns, preset.power_uw) == (3 * 10**11, 5000, 120 * 10**6)
    assert preset.efficiency == {"matrix": 0.6, "memory": 0.8}


@pytest.mark.parametrize("preset", bundled_presets(), ids=lambda preset: preset.key)
def test_what_a_form_shows_of_a_preset_is_that_preset(preset) -> None:
    texts = {field.name: field.text(preset) for field in FORM}
    again, mistakes = preset_of_form(texts, preset, [])
    assert not mistakes
    for name in ("memory_bytes", "peak_flop_per_s", "matrix_flop_per_s", "bandwidth_bytes_per_s", "launch_ns", "bus",
                 "kind", "power_uw", "summary", "source", "read_bytes_per_s"):  # fmt: skip
        assert getattr(again, name) == getattr(preset, name), name
    assert again.efficiency == pytest.approx(dict(preset.efficiency))


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("key", "", "a name is needed"),
        ("key", "my gpu", "may have letters"),
        ("key", "taken", "is the name of another preset"),
        ("title", " ", "a title is needed"),
        ("kind", "toaster", "choose one of cpu, "),
        ("memory", "8 Gb", "bits"),
        ("memory", "0", "too small"),
        ("peak", "fast", "is not a peak such as"),
        ("bandwidth", "", "nothing is given"),
        ("launch", "-1 µs", "negative"),
        ("bus", "", "choose one of shared, "),
        ("efficiency_vector", "130 %", "no share"),
        ("power", "3", "no unit of power"),
        ("source", "", "say where the figures are from"),
    ],
)
def test_each_wrong_field_has_its_sentence(field: str, text: str, sentence: str) -> None:
    _, mistakes = made(**{field: text})
    assert list(mistakes) == [field]
    assert sentence in mistakes[field]
    assert "\n" not in mistakes[field]


def test_own_presets_are_kept_and_used_by_name(capsys: Captured, tmp_path: Path) -> None:
    assert own_presets() == ((), ())
    preset, _ = made()
    write_own_presets([preset])
    assert read_own_presets().presets == (preset,)
    assert device_preset("my-gpu") == preset
    assert device_presets()[-1] == preset
    assert main(["devices"]) == 0
    assert "Mine (own)" in capsys.readouterr().out
    words = ["problem", str(sample_graphs() / "lenet.onnx"), "--device", "gpu=my-gpu", "-o", str(tmp_path / "p.json")]
    assert main(words) == 0
    write_own_presets([])
    with pytest.raises(InputError, match="there is no device preset 'my-gpu'"):
        device_preset("my-gpu")


def test_a_broken_file_is_told_and_the_rest_is_used(capsys: Captured) -> None:
    preset, _ = made()
    write_own_presets([preset])
    data = json.loads(own_presets_file().read_text())
    broken = {**data["presets"][0], "key": "x", "memory_bytes": -1, "kind": "toaster", "efficiency": {"matrix": 3}}
    data["presets"] += [{**data["presets"][0], "key": "p100"}, broken, 7]
    own_presets_file().write_text(json.dumps(data))
    found = own_presets()
    assert found.presets == (preset,)
    assert "presets[1].key 'p100' is the key of another preset" in found.mistakes
    assert any(m.startswith("presets[2].memory_bytes must be at least 1") for m in found.mistakes)
    assert any(m.startswith("presets[2].kind must be one of cpu") for m in found.mistakes)
    assert any(m.startswith("presets[2].efficiency must give shares") for m in found.mistakes)
    assert any(m.startswith("presets[3] must be an object") for m in found.mistakes)
    assert main(["devices"]) == 0
    assert "presets[2].kind" in capsys.readouterr().err
    own_presets_file().write_text("nonsense")
    assert own_presets().presets == ()
    assert "not JSON" in own_presets().mistakes[0]


def test_a_folder_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("xengine_gui.paths.config_folder", lambda: tmp_path / "file" / "folder")
    with pytest.raises(InputError, match="cannot be written"):
        write_own_presets([])
