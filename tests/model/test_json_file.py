"""JSON is read as people save it, and nothing doubtful slips through."""

import json
from pathlib import Path

import pytest

from xengine_gui.errors import InputError
from xengine_gui.model.json_file import format_json, parse_json, read_json
from xengine_gui.model.whole_file import write_text


def mistakes(raw: bytes) -> tuple[str, ...]:
    with pytest.raises(InputError) as caught:
        parse_json(raw, "file")
    return caught.value.mistakes


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_every_unicode_encoding_is_read(encoding: str) -> None:
    assert parse_json('{"имя": "é"}'.encode(encoding), "file") == {"имя": "é"}


def test_repeated_keys_are_named_with_their_place() -> None:
    raw = b'{"a": [{"x": 1, "x": 1}], "b": {"c": {"y": 1, "z": 0, "y": 2}}, "b2": 1, "b2": 2}'
    assert set(mistakes(raw)) == {"a[0].x is there twice", "b.c.y is there twice", "b2 is there twice"}


@pytest.mark.parametrize(("word", "shown"), [("NaN", "NaN"), ("Infinity", "infinity"), ("-Infinity", "infinity")])
def test_what_is_no_number_is_named_with_its_place(word: str, shown: str) -> None:
    assert mistakes(f'{{"a": [0, {word}]}}'.encode()) == (f"a[1] is {shown}, which is no number",)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"{", "this is not JSON (line 1, column 2"),
        (b"\x89PNG\r\n\x1a\n\x00", "it looks like a PNG picture"),
        (b"<!DOCTYPE html><html>", "it looks like a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "it looks like a git-LFS pointer"),
        (b"[" * 200_000 + b"]" * 200_000, "nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "too many digits"),
    ],
)
def test_what_is_no_json_says_so(raw: bytes, sentence: str) -> None:
    told = mistakes(raw)
    assert len(told) == 1
    assert sentence in told[0]


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_json(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be read"):
        read_json(tmp_path)


def test_a_written_file_has_a_line_for_each_entry() -> None:
    text = format_json({"name": "é", "tensors": [{"name": "x", "bytes": 1}, {"name": "y", "bytes": 2}], "none": []})
    assert text.splitlines()[2:4] == [' "tensors": [', '  {"name": "x", "bytes": 1},']
    assert json.loads(text)["none"] == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\ud800")
    assert path.read_text() == "old"
    with pytest.raises(InputError, match="its folder does not exist"):
        write_text(tmp_path / "none" / "plan.json", "new")
    with pytest.raises(InputError, match="it is a folder"):
        write_text(tmp_path, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["plan.json"]


def test_a_link_keeps_pointing_to_the_written_file(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_text(tmp_path / "link.json", "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told() -> None:
    with pytest.raises(InputError, match="cannot be written: No space left"):
        write_text(Path("/dev/full"), "new")
    assert Path("/dev/full").is_char_device()


def test_a_device_file_is_told_and_not_read_for_ever() -> None:
    with pytest.raises(InputError, match="it is a device, not a file"):
        read_json(Path("/dev/zero"))


def test_many_keys_with_one_repeated_are_read_at_once() -> None:
    keys = ", ".join(f'"{i}": 0' for i in range(50_000))
    assert mistakes(f'{{{keys}, "7": 1}}'.encode()) == ("7 is there twice",)
