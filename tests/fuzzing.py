"""Damaged files for every reader: small valid ones, changed at random, and what a reader may do with them.

`python tests/fuzzing.py SECONDS [SEED]` goes on for that long in child processes, which a crash cannot hide in.
"""

import copy
import io
import json
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from saved_programs import MODEL

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.model.graph import NetworkGraph
from xengine_gui.model.problem import Problem
from xengine_gui.paths import sample_graphs
from xengine_gui.schedule.export.graphml import graphml_parts
from xengine_gui.session import read_session
from xengine_gui.training import inference_graph, training_graph

MOST_SECONDS = 5.0
MOST_BYTES = 2**30

_NODES = (
    '{"directed": true, "multigraph": false, "graph": {}, "nodes": [{"id": 0, "cost": 1.5, "memory": "1 KiB"}, '
    '{"id": "b", "cost": 2, "memory": 2048, "backward": true, "kind": "Conv"}], '
    '"edges": [{"source": 0, "target": "b"}]}'
)
_GRAPHML = (
    '<?xml version="1.0" encoding="UTF-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<key id="d0" for="node" attr.name="cost" attr.type="double"/><key id="d1" for="node" attr.name="memory" '
    'attr.type="long"/><graph edgedefault="directed"><node id="a"><data key="d0">1</data><data key="d1">8</data></node>'
    '<node id="b"><data key="d0">2e3</data><data key="d1">1 MB</data></node>'
    '<edge source="a" target="b"/></graph></graphml>'
)
_TWO_DEVICES = (
    '{"graph": {"devices": {"cpu": {"memory": "8 KiB"}, "gpu": {"kind": "gpu"}}, "links": [{"source": "cpu", '
    '"destination": "gpu", "bandwidth": "1 GB/s", "latency": 5}]}, "nodes": [{"id": "a", "time": {"cpu": 1, "gpu": '
    '"3 us"}, "size": 8}, {"id": "b", "time.gpu": 2, "size": 8, "workspace": {"gpu": 4}}], '
    '"links": [{"source": "a", "target": "b"}]}'
)
_LOG = "\n".join(
    [
        '{"INSTRUCTION":"ANNOTATE","ANNOTATION":"START"}',
        '{"INSTRUCTION":"CONSTANT","NAME":"w"}',
        '{"INSTRUCTION":"MEMORY","NAME":"w","MEMORY":"64"}',
        '{"INSTRUCTION":"CALL","NAME":"mm","ARGS":["w","w"],"RESULT":["x"],"TIME":"7"}',
        '{"INSTRUCTION":"MEMORY","NAME":"x","MEMORY":"32"}',
        '{"INSTRUCTION":"ALIAS","NAME":"x","ALIAS":"-1"}',
        '{"INSTRUCTION":"COPY","DST":"y","SRC":"x"}',
        '{"INSTRUCTION":"MUTATE","NAME":"add_","ARGS":["x","w"],"MUTATE":[0],"TIME":"3"}',
        '{"INSTRUCTION":"RELEASE","NAME":"x"}',
    ]
)
_SESSION = '{"format": "xengine-session", "version": 1, "file": "chain.json", "limits": {"gpu": 4096}, "batch": 2}'
_TOKENS = (
    b"\x00", b"\xff" * 8, b"\x80" * 9 + b"\x01", b"NaN", b"-1", b"1e999", b"9" * 40, b"null", b"true", b"[" * 200, b'"',
    b"{}", b"[]", b"\xed\xa0\x80", b"\\ud800", b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"</graph>",
    b"<data key='d0'>",
    b"\xef\xbb\xbf", b"\xff\xfe", b"1,5 GiB", b"0", b"\n", b"a" * 3000,
)  # fmt: skip


def seeds() -> list[tuple[str, bytes]]:
    """Small valid files by their suffix."""
    texts = [(".json", _NODES), (".json", _TWO_DEVICES), (".graphml", _GRAPHML), (".log", _LOG), (".xengine", _SESSION)]
    files = [(".json", path.read_bytes()) for path in planner.sample_problems()]
    plan = planner.plan(_problem(), "retain-all")
    from xengine_gui.model.json_file import format_json  # noqa: PLC0415
    from xengine_gui.model.plan_file import plan_to_json  # noqa: PLC0415

    files.append((".json", format_json(plan_to_json(plan)).encode()))
    both = planner.open_file(sample_graphs() / "two_devices.json")
    assert isinstance(both, Problem)
    files.append((".graphml", b"".join(graphml_parts(both))))
    files.append((".pt2", archived(json.dumps(MODEL).encode())))
    return [*((suffix, text.encode()) for suffix, text in texts), *files, *((".onnx", data) for data in _networks())]


def archived(model: bytes) -> bytes:
    """A saved program with this model in it."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("net/models/model.json", model)
    return content.getvalue()


def _problem():
    return planner.open_file(sample_graphs() / "chain.json")


def _networks() -> Iterator[bytes]:
    import onnx  # noqa: PLC0415
    from onnx import TensorProto, helper  # noqa: PLC0415

    def value(name: str, *shape: int | str, dtype: int = TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, dtype, shape)

    def model(nodes, inputs, outputs, constants=(), **how) -> bytes:
        graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], **how)
        return bytes(made.SerializeToString())

    def ints(name: str, *values: int):
        return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)

    weights = helper.make_tensor("w", TensorProto.FLOAT, [2, 3, 3, 3], [0.5] * 54)
    yield model(
        [
            helper.make_node("Conv", ["x", "w"], ["a"], kernel_shape=[3, 3]),
            helper.make_node("Relu", ["a"], ["b"]),
            helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2]),
            helper.make_node("Slice", ["c", "from", "to"], ["d"]),
            helper.make_node("Reshape", ["d", "shape"], ["e"]),
            helper.make_node("Softmax", ["e"], ["y"]),
        ],
        [value("x", "N", 3, 8, 8)], [value("y", "N", "M")],
        [weights, ints("from", 0), ints("to", 1), ints("shape", 1, -1)],
    )  # fmt: skip
    then = helper.make_graph(
        [helper.make_node("Slice", ["x", "from", "to"], ["t"])], "then", [], [value("t", "k", 4)],
        [ints("from", 0), ints("to", 1)],
    )  # fmt: skip
    otherwise = helper.make_graph([helper.make_node("Neg", ["x"], ["n"])], "else", [], [value("n", 2, 4)])
    step, go = value("i", dtype=TensorProto.INT64), value("k", dtype=TensorProto.BOOL)
    body = helper.make_graph(
        [helper.make_node("Identity", ["k"], ["l"]), helper.make_node("Relu", ["x"], ["r"])],
        "body", [step, go], [value("l", dtype=TensorProto.BOOL), value("r", 2, 4)],
    )  # fmt: skip
    yield model(
        [
            helper.make_node("If", ["c"], ["a"], then_branch=then, else_branch=otherwise),
            helper.make_node("Loop", ["n", "c"], ["b"], body=body),
            helper.make_node("Dropout", ["a"], ["d", "m"]),
            helper.make_node("LSTM", ["b", "wl", "rl"], ["y"], hidden_size=2),
        ],
        [value("x", 2, 4), value("c", dtype=TensorProto.BOOL), value("n", dtype=TensorProto.INT64)],
        [value("y", 1), value("d", 2, 4)],
        [helper.make_tensor("wl", TensorProto.FLOAT, [1, 8, 4], [0.0] * 32),
         helper.make_tensor("rl", TensorProto.FLOAT, [1, 8, 2], [0.0] * 16)],
    )  # fmt: skip
    function = helper.make_function(
        "own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    yield model(
        [helper.make_node("Twice", ["x"], ["t"], domain="own"), helper.make_node("Gather", ["t", "p"], ["y"])],
        [value("x", 5, "H")], [value("y", 1, "H")], [ints("p", 3)], functions=[function],
    )  # fmt: skip
    assert onnx.__version__


def damaged(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """The bytes with a few changes: bits, bytes, stretches cut, doubled or taken from another file, and tokens."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        here = rng.randrange(len(changed) + 1)
        length = min(rng.choice((1, 1, 2, 4, 16, 200)), len(changed) - here)
        change = rng.randrange(7)
        if change == 0 and length:
            changed[here] ^= 1 << rng.randrange(8)
        elif change == 1 and length:
            changed[here] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif change == 2:
            del changed[here : here + length]
        elif change == 3:
            changed[here:here] = changed[here : here + length]
        elif change == 4:
            changed[here : here + length] = rng.choice(_TOKENS)
        elif change == 5:
            start = rng.randrange(len(other) + 1)
            changed[here:here] = other[start : start + rng.choice((1, 8, 64, 400))]
        else:
            _change_number(changed, here, rng)
    return bytes(changed)


def _change_number(data: bytearray, here: int, rng: random.Random) -> None:
    """Another number in place of the next that stands there in decimal."""
    start = next((i for i in range(here, len(data)) if 48 <= data[i] <= 57), None)
    if start is None:
        return
    end = next((i for i in range(start, len(data)) if not 48 <= data[i] <= 57), len(data))
    data[start:end] = rng.choice((b"0", b"-1", b"2", b"4294967296", b"18446744073709551616", b"1e400", b"0.1", b"1e-9"))


_LENGTHS = (-1, -7, 0, 1, 2, 3, 5, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63))
_VALUES = (
    None,
    True,
    -1,
    0,
    1,
    2**53 + 1,
    10**40,
    0.5,
    1e300,
    "",
    "a",
    "1,5 GiB",
    "8 b",
    [],
    [[]],
    {},
    {"name": "a"},
    "\ud800",
)


def rearranged_network(data: bytes, rng: random.Random) -> bytes:
    """A message that still is one: kinds, names, lengths, attributes and order changed."""
    import onnx  # noqa: PLC0415

    model = onnx.ModelProto()
    model.ParseFromString(data)
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        bodies = [model.graph, *(a.g for n in model.graph.node for a in n.attribute if a.HasField("g"))]
        _rearrange(rng.choice(bodies), model, rng)
    return bytes(model.SerializeToString())


def _rearrange(graph, model, rng: random.Random) -> None:
    import onnx  # noqa: PLC0415

    change = rng.randrange(9)
    node = rng.choice(graph.node) if graph.node else None
    values = [*graph.input, *graph.output, *graph.value_info]
    names = [
        *(v.name for v in values),
        *(n for o in graph.node for n in o.output),
        *(t.name for t in graph.initializer),
        "",
    ]
    if change == 0 and node is not None:
        node.op_type = rng.choice(sorted({s.name for s in onnx.defs.get_all_schemas()}))
    elif change == 1 and node is not None and node.input:
        node.input[rng.randrange(len(node.input))] = rng.choice(names)
    elif change == 2 and node is not None and node.output:
        node.output[rng.randrange(len(node.output))] = rng.choice(names)
    elif change == 3 and values and (dims := rng.choice(values).type.tensor_type.shape.dim):
        dim = rng.choice(dims)
        dim.dim_value = rng.choice(_LENGTHS)
    elif change == 4 and graph.initializer:
        _rearrange_constant(rng.choice(graph.initializer), rng)
    elif change == 5 and node is not None and node.attribute:
        attribute = rng.choice(node.attribute)
        attribute.i = rng.choice(_LENGTHS)
        for place in range(len(attribute.ints)):
            attribute.ints[place] = rng.choice(_LENGTHS)
    elif change == 6 and node is not None:
        graph.node.append(node)
    elif change == 7 and node is not None:
        graph.node.remove(node)
    else:
        model.opset_import[0].version = rng.choice((0, 1, 5, 7, 9, 11, 13, 18, 21, 24, 99, -1))


def _rearrange_constant(tensor, rng: random.Random) -> None:
    change = rng.randrange(3)
    if change == 0 and tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(_LENGTHS)
    elif change == 1:
        tensor.data_type = rng.choice((0, 1, 6, 7, 8, 9, 16, 22, 99))
    else:
        del tensor.int64_data[:]
        tensor.raw_data = b"".join(
            rng.choice(_LENGTHS).to_bytes(8, "little", signed=True) for _ in range(rng.randrange(4))
        )


def rearranged_json(data: bytes, rng: random.Random) -> bytes:
    """A file that still is JSON: some of its values replaced, taken away, doubled or swapped."""
    value = json.loads(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        inner = [value]
        for item in inner:
            children = item.values() if isinstance(item, dict) else item
            inner += [child for child in children if isinstance(child, dict | list) and child]
        place = rng.choice(inner)
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            continue
        key = rng.choice(keys)
        change = rng.randrange(4)
        if change == 0:
            del place[key]
        elif change == 1:
            place[key] = copy.deepcopy(place[rng.choice(keys)])
        elif change == 2 and isinstance(place, list):
            place.insert(0, place[key])
        else:
            place[key] = copy.deepcopy(rng.choice(_VALUES))
    return json.dumps(value).encode()


def read(path: Path) -> str:
    """Read a file in every way there is; what it came to, in a word. Only an `InputError` may come out of it."""
    try:
        if path.suffix == ".xengine":
            read_session(path)
            return "read"
        opened = planner.open_file(path)
        assert not isinstance(opened, NetworkGraph) or _sizes_can_be(opened)
        for make in (inference_graph, training_graph) if isinstance(opened, NetworkGraph) else ():
            make(opened)
    except InputError as error:
        return "refused" if str(error) else "refused without a sentence"
    return "read"


def _sizes_can_be(network: NetworkGraph) -> bool:
    values = (*network.tensors.values(), *network.parameters.values())
    return all(value.size_bytes is None or value.size_bytes >= 0 for value in values)


def files_of(seed: int, every: list[tuple[str, bytes]]) -> tuple[str, bytes]:
    """The suffix and the bytes of one damaged file."""
    rng = random.Random(seed)  # noqa: S311 - has to be the same again
    suffix, data = rng.choice(every)
    if suffix == ".onnx" and rng.random() < 0.7:
        return suffix, rearranged_network(data, rng)
    if suffix in {".json", ".xengine"} and rng.random() < 0.5:
        return suffix, rearranged_json(data, rng)
    if suffix == ".pt2" and rng.random() < 0.9:  # a changed archive is mostly no archive
        model = json.dumps(MODEL).encode()
        return suffix, archived(
            rearranged_json(model, rng) if rng.random() < 0.7 else damaged(model, rng.choice(every)[1], rng)
        )
    return suffix, damaged(data, rng.choice(every)[1], rng)


def _child(first: int, seconds: float, folder: Path) -> None:
    """Read one damaged file after the other; the one at work is on disk, should this process end."""
    import resource  # noqa: PLC0415

    every = seeds()
    for suffix, data in every:
        (folder / f"warm{suffix}").write_bytes(data)
        assert read(folder / f"warm{suffix}") == "read", suffix
    size = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    # What is refused for want of memory would pass for a sentence, so there is more than may be used.
    resource.setrlimit(resource.RLIMIT_AS, (size + 4 * MOST_BYTES, size + 4 * MOST_BYTES))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    end, seed = time.monotonic() + seconds, first
    counts = {"read": 0, "refused": 0}  # another word is a KeyError, and so a fault
    slowest = 0.0
    while time.monotonic() < end:
        suffix, data = files_of(seed, every)
        path = folder / f"at_work{suffix}"
        path.write_bytes(data)
        (folder / "seed").write_text(f"{seed} {suffix}", encoding="ascii")
        start = time.process_time()
        counts[read(path)] += 1
        slowest = max(slowest, time.process_time() - start)
        assert slowest < MOST_SECONDS, f"seed {seed} took {slowest:.1f} s"
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        assert grown < MOST_BYTES, f"seed {seed} took {grown / 2**20:.0f} MiB"
        seed += 1
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(f"seeds {first:,} to {seed - 1:,}: {counts}, slowest {slowest:.2f} s, at most {most:.0f} MiB\n")


def run(seconds: float, first: int = 0) -> list[str]:
    """Fuzz for that long; the faults that were found, empty where there is none."""
    faults: list[str] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory() as name:
            left = max(1.0, end - time.monotonic())
            words = [sys.executable, __file__, "child", str(first), str(min(left, 120.0)), name]
            child = subprocess.run(words, capture_output=True, text=True, check=False, timeout=left + 600)
            sys.stdout.write(child.stdout)
            at_work = (
                (Path(name) / "seed").read_text(encoding="ascii") if (Path(name) / "seed").exists() else str(first)
            )
            if child.returncode:
                last = (child.stderr.strip().splitlines() or ["?"])[-1]
                faults.append(f"seed {at_work}: exit {child.returncode}, {last}")
                sys.stdout.write(faults[-1] + "\n" + child.stderr[-1500:] + "\n")
            first = int(at_work.split()[0]) + 1
        sys.stdout.flush()
    return faults


if __name__ == "__main__":
    if sys.argv[1] == "child":
        _child(int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]))
    else:
        sys.exit(len(run(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)))
