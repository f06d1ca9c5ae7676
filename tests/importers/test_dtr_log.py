"""Operator logs of DTR: what becomes of calls, views, changes in place and constants, and what is refused."""

import json
from pathlib import Path

import pytest

from xengine_gui import planner
from xengine_gui.errors import InputError
from xengine_gui.model.operator import Phase
from xengine_gui.model.problem import Problem


def constant(name: str, size: int) -> list[dict[str, object]]:
    return [{"INSTRUCTION": "CONSTANT", "NAME": name}, {"INSTRUCTION": "MEMORY", "NAME": name, "MEMORY": str(size)}]


def call(name: str, args: str, time: int, **results: tuple[int, int]) -> list[dict[str, object]]:
    """A call; `results` give bytes and the place of the argument whose bytes they are (-1: their own)."""
    rows: list[dict[str, object]] = [
        {"INSTRUCTION": "CALL", "NAME": name, "ARGS": args.split(), "RESULT": list(results), "TIME": str(time)}
    ]
    for result, (size, alias) in results.items():
        rows.append({"INSTRUCTION": "MEMORY", "NAME": result, "MEMORY": str(size)})
        rows.append({"INSTRUCTION": "ALIAS", "NAME": result, "ALIAS": str(alias)})
    return rows


def row(instruction: str, **values: object) -> list[dict[str, object]]:
    return [{"INSTRUCTION": instruction, **values}]


def opened(folder: Path, *parts: list[dict[str, object]]) -> Problem:
    path = folder / "model.log"
    path.write_text("".join(json.dumps(line) + "\n" for part in parts for line in part), encoding="utf-8")
    problem = planner.open_file(path)
    assert isinstance(problem, Problem)
    return problem


STEP = (
    constant("early", 1),
    row("ANNOTATE", ANNOTATION="START"),
    constant("w", 100),
    constant("x", 40),
    call("mm", "x w", 7, a=(50, -1)),
    call("view", "a", 3, v=(50, 0)),
    call("relu", "v", 5, b=(50, -1)),
    row("RELEASE", NAME="a"),
    row("RELEASE", NAME="v"),
    row("ANNOTATE", ANNOTATION="BACKWARD"),
    call("mm_grad", "b x", 9, g=(100, -1)),
    row("RELEASE", NAME="b"),
    row("MUTATE", NAME="add_", ARGS=["w", "g"], MUTATE=[0], TIME="2"),
    row("RELEASE", NAME="unheard_of"),
)


def test_calls_are_operators_and_constants_parameters(tmp_path: Path) -> None:
    problem = opened(tmp_path, *STEP)
    assert [operator.name for operator in problem.operators] == ["mm_0", "relu_1", "mm_grad_2", "add__3"]
    mm, relu, grad, update = problem.operators
    assert (mm.inputs, mm.outputs, set(mm.parameters)) == ((), ("a",), {"x", "w"})
    assert relu.inputs == ("a",)  # through the view
    assert (relu.phase, grad.phase) == (Phase.FORWARD, Phase.BACKWARD)
    assert {p.name: p.size_bytes for p in problem.parameters} == {"w": 100, "x": 40}
    assert {t.name: t.size_bytes for t in problem.tensors} == {"a": 50, "b": 50, "g": 100}
    # A weight that is changed cannot be changed again; what is held at the end is kept.
    assert (update.recomputable, update.inputs, update.outputs) == (False, ("g",), ())
    assert problem.keep == ("g",)
    assert [o.costs["device"][0].time_ns for o in problem.operators] == [7, 5, 9, 2]
    assert "1 view of other tensors left out" in problem.notes


def test_a_change_in_place_is_a_new_tensor(tmp_path: Path) -> None:
    problem = opened(
        tmp_path, constant("x", 8), call("relu", "x", 1, a=(8, -1)), row("COPY", DST="c", SRC="a"),
        row("MUTATE", NAME="add_", ARGS=["a", "x"], MUTATE=[0], TIME=4), call("exp", "c", 1, y=(8, -1)),
        row("COPY_FROM", DST="c", SRC="y"), row("RELEASE", NAME="a"),
    )  # fmt: skip
    assert [(o.inputs, o.outputs) for o in problem.operators] == [((), ("a",)), (("a",), ("a$1",)), (("a$1",), ("y",))]
    assert problem.operators[1].recomputable
    assert problem.keep == ("y",)


def test_a_log_is_planned(tmp_path: Path) -> None:
    problem = opened(tmp_path, *STEP).with_limit("device", 2**20)
    assert planner.plan(problem, "retain-all").total_ns == 23


@pytest.mark.parametrize(
    ("parts", "word"),
    [
        ([row("DANCE")], 'line 1: the instruction "DANCE" is not known'),
        ([[{"NAME": "x"}]], "line 1 has no INSTRUCTION"),
        ([row("CALL", NAME="f", ARGS=["q"], RESULT=[], TIME="1")], "line 1: 'q' was not made before, or was released"),
        ([row("CALL", NAME="f", ARGS=[], RESULT=["r"], TIME="1")], "line 1: the call gives 'r', whose MEMORY"),
        ([constant("x", 1), constant("x", 1)], "line 3: 'x' is made a second time"),
        ([row("CONSTANT", NAME="x"), row("MEMORY", NAME="x", MEMORY="-1")], "line 2: MEMORY must be at least 0"),
        ([row("CONSTANT", NAME="x"), row("MEMORY", NAME="x", MEMORY=True)], "line 2: MEMORY must be a whole number"),
        ([row("MEMORY", NAME="x", MEMORY="1")], "line 1: MEMORY of 'x', which is not what the line before gives"),
        ([call("f", "", 1, r=(1, 3))], "line 3: ALIAS 3 of a call with 0 arguments"),
        ([row("MUTATE", NAME="f", ARGS=[], MUTATE=[0], TIME=1)], "line 1: MUTATE must be a list of places"),
        ([row("CALL", NAME="f", ARGS="x", RESULT=[], TIME="1")], "line 1: ARGS must be a list of names"),
        ([row("RELEASE")], "line 1: NAME is missing"),
    ],
)
def test_mistakes_name_their_line(tmp_path: Path, parts, word: str) -> None:
    with pytest.raises(InputError) as error:
        opened(tmp_path, *parts)
    assert word in str(error.value)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "the file is empty"),
        (b"hello\n", "line 1 is no JSON object"),
        (b"\xff\xfe\x00", "not a text file"),
        (b"[1]\n", "line 1 is a list, not an object"),
        (b'{"INSTRUCTION": NaN}\n', "line 1 is no JSON object"),
        (b"[" * 100_000, "line 1 is no JSON object"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, data: bytes, word: str) -> None:
    path = tmp_path / "other.log"
    path.write_bytes(data)
    with pytest.raises(InputError, match=word):
        planner.open_file(path)


def test_what_a_log_does_not_have_is_refused(tmp_path: Path) -> None:
    opened(tmp_path, *STEP)
    for how in ({"batch": 2}, {"mapping": {"size": "mem"}}, {"sizes": {"a": 1}}):
        with pytest.raises(InputError):
            planner.open_file(tmp_path / "model.log", **how)
