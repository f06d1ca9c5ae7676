"""What a file that should be ONNX looks like instead, told from its first bytes."""

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "looks like a PNG picture"),
    (b"\xff\xd8\xff", "looks like a JPEG picture"),
    (b"GIF8", "looks like a GIF picture"),
    (b"%PDF", "looks like a PDF document"),
    (b"PK\x03\x04", "looks like a ZIP archive (PyTorch checkpoints are such; export the model to ONNX)"),
    (b"\x1f\x8b", "looks like a gzip archive; unpack it first"),
    (b"\x89HDF\r\n", "looks like an HDF5 file (Keras models are such; export the model to ONNX)"),
    (b"\x93NUMPY", "looks like a NumPy array"),
    (b"version https://git-lfs", "is a git-LFS pointer, not the network itself; fetch it with: git lfs pull"),
    (b"\x80\x02", "looks like a Python pickle (PyTorch checkpoints are such; export the model to ONNX)"),
    (b"\x80\x04", "looks like a Python pickle; export the model to ONNX"),
    (b"\x7fELF", "looks like a program"),
    (b"MZ", "looks like a program"),
)


def what_it_looks_like(data: bytes) -> str:
    """A phrase such as `looks like a PNG picture`; empty where nothing speaks against ONNX."""
    if not data:
        return "is empty"
    for signature, phrase in _SIGNATURES:
        if data.startswith(signature):
            return phrase
    if data[4:8] == b"TFL3":
        return "looks like a TensorFlow Lite model; convert it to ONNX"
    if not data.strip(b"\0"):
        return "holds nothing but zeros"
    return _kind_of_text(data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower())


def _kind_of_text(start: bytes) -> str:
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body", b"<h1")):
        return "looks like an HTML page (a failed download, perhaps)"
    if start.startswith((b"<?xml", b"<svg", b"<graphml")):
        return "looks like an XML document"
    if not start or not _is_text(start):
        return ""
    return "looks like JSON text" if start.startswith((b"{", b"[")) else "looks like plain text"


def what_is_broken(data: bytes) -> str:
    """Why bytes do not parse as a message: cut off, or not ONNX at all."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        field, wire = key >> 3, key & 7
        if wire == 0:
            _, place = _varint(data, place)
        elif wire == 2:
            length, place = _varint(data, place)
            place += length
            if place > len(data) and 0 < field < 64:
                return f"is cut off: {place:,} bytes are announced, {len(data):,} are there"
        elif wire in (1, 5):
            place += 8 if wire == 1 else 4
        else:
            break
    return "is damaged or is no ONNX file"


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(data) and shift < 64:
        byte = data[place]
        value |= (byte & 127) << shift
        place += 1
        if byte < 128:
            break
        shift += 7
    return value, place


def _is_text(data: bytes) -> bool:
    if any((byte < 32 and byte not in (9, 10, 13)) or byte == 127 for byte in data):
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        # A character that the excerpt cuts is no sign against text.
        return error.start >= len(data) - 4 and len(data) > 4
    return True
