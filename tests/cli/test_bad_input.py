"""Whatever is wrong with what is given, each command says it in one plain sentence and ends with status 2."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from problems_fixed import chain_problem

from xengine_gui.cli import main
from xengine_gui.model.plan import Run
from xengine_gui.model.plan_file import write_plan
from xengine_gui.model.problem_file import write_problem
from xengine_gui.paths import sample_graphs
from xengine_gui.schedule.finish import finished_plan

Captured = pytest.CaptureFixture[str]
NETWORK = str(sample_graphs() / "lenet.onnx")
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with files that are good, bad, and no files at all."""
    monkeypatch.chdir(tmp_path)
    problem = chain_problem()
    write_problem(problem, Path("problem.json"))
    write_plan(finished_plan(problem, "test", [Run(0, o) for o in range(4)]), Path("plan.json"))
    Path("folder").mkdir()
    Path("broken.json").write_text("{")
    Path("list.json").write_text("[1]")
    Path("empty.json").write_text("")
    Path("deep.json").write_text("[" * 100_000)
    Path("noise.onnx").write_bytes(b"\x00\xff\xfe")
    Path("wrong.csv").write_text("a,b")
    Path("nan.csv").write_text("operator,device,time_ns\no0,gpu,nan\n")
    Path("gone.xengine").write_text('{"format": "xengine-session", "version": 1, "file": "gone.onnx"}')
    plan = json.loads(Path("plan.json").read_text())
    Path("text.json").write_text(json.dumps({**plan, "events": "many"}))
    plan["problem"]["devices"] *= 2
    Path("twice.json").write_text(json.dumps(plan))


BAD = [
    # --- files that are none, or of another kind
    (["plan"], "no file is given"),
    (["plan", ""], "nothing is given"),
    (["plan", "none.json"], "none.json: there is no such file."),
    (["plan", "none.onnx"], "none.onnx: there is no such file."),
    (["plan", "folder"], "folder: cannot be read: Is a directory."),
    (["plan", "broken.json"], "this is not JSON (line 1"),
    (["plan", "list.json"], "must be an object"),
    (["plan", "empty.json"], "the file is empty"),
    (["plan", "deep.json"], "nested too deeply"),
    (["plan", "noise.onnx"], "this is no ONNX network"),
    (["plan", "wrong.csv"], "not in .csv"),
    (["plan", "gone.xengine"], "gone.onnx: there is no such file."),
    (["inspect"], "the following arguments are required: GRAPH"),
    (["inspect", "folder"], "Is a directory"),
    (["inspect", "gone.py:make"], "there is no file gone.py"),
    (["verify", "problem.json"], "problem.json: this is a problem, not a plan; plan it first."),
    (["verify", "folder"], "Is a directory"),
    (["verify", "text.json"], "events must be a list"),
    (["verify", "twice.json"], "device 'gpu' is there twice"),
    (["verify", "plan.json", "broken.json"], "broken.json: this is not JSON"),
    (["render", "problem.json", "-o", "x.png"], "this is a problem, not a plan; plan it first."),
    (["render", "gone.xengine", "-o", "x.svg"], "gone.onnx: there is no such file."),
    (["export", "problem.json", "-o", "x.csv"], "this is a problem, not a plan"),
    (["export", "text.json", "-o", "x.csv"], "events must be a list"),
    (["compare", "plan.json", "folder"], "Is a directory"),
    (["compare", "plan.json", "problem.json"], "is no plan"),
    (["profile", "problem.json"], "is no network"),
    (["folder"], "folder: is a folder; name a file in it."),
    ([""], "nothing is given"),
    (["none.onnx"], "none.onnx: there is no such file."),
    (["frobnicate"], "frobnicate: there is no such file or command"),
    (["insepct"], "insepct: there is no such file or command; the nearest command is inspect."),
    # --- targets
    (["plan", "problem.json", "-o", "folder"], "folder: cannot be written: it is a folder."),
    (["plan", "problem.json", "-o", ""], "nothing is given"),
    (["plan", "problem.json", "-o", "none/x.json"], "none/x.json: cannot be written: its folder does not exist."),
    (["plan", "problem.json", "-o", "plan.json/x"], "its folder does not exist"),
    (["plan", "problem.json", "--picture", "x.gif"], "pictures are drawn into .svg, .png and .pdf files"),
    (["plan", "problem.json", "--write-model", "x.txt"], "written as .lp or .mps"),
    (["plan", "problem.json", "--write-model", "x.lp"], "'optimal' has no model"),
    (["compare", "problem.json", "-o", "x.xlsx"], "a comparison is written as .csv"),
    (["compare", "plan.json", "plan.json", "-o", "x.svg"], "is written as .csv, .json"),
    (["sweep", "problem.json", "-o", "x.doc"], "a sweep is written as .csv"),
    (["render", "plan.json", "-o", "x"], "pictures are drawn into"),
    (["export", "plan.json", "-o", ".json"], "its suffix does not tell what to write"),
    (["problem", "problem.json"], "the following arguments are required: -o/--output"),
    pytest.param(["problem", "problem.json", "-o", "/dev/full"], "/dev/full: cannot be written: No space", marks=FULL),
    # --- sizes, times, shares and counts
    (["plan", "problem.json", "--limit", "gpu=8Gb"], "bits?"),
    (["plan", "problem.json", "--limit", "gpu=-1GiB"], "'-1GiB' is negative"),
    (["plan", "problem.json", "--limit", "gpu=1e400"], "is larger than any device"),
    (["plan", "problem.json", "--limit", "gpu=nan"], "'nan' is not a size"),
    (["plan", "problem.json", "--limit", "gpu=8ms"], "has no unit of size"),
    (["plan", "problem.json", "--limit", "gpu=-5%"], "is negative"),
    (["plan", "problem.json", "--limit", "gpu="], "is not of the form NAME=SIZE"),
    (["plan", "problem.json", "--limit", "8GiB"], "is not of the form NAME=SIZE"),
    (["plan", "problem.json", "--limit", "tpu=8GiB"], "there is no device 'tpu'; there is only gpu."),
    (["plan", "problem.json", "--limit", "GPU=8GiB"], "there is no device 'GPU'; did you mean 'gpu'?\n"),
    (["plan", "problem.json", "--gap", "2"], "'2' is not a share"),
    (["plan", "problem.json", "--gap", "nan"], "'nan' is not a share"),
    (["plan", "problem.json", "--time", "-1"], "'-1' is"),
    (["plan", "problem.json", "--time", "nan"], "'nan' is"),
    (["plan", "problem.json", "--time", "5GiB"], "is no time"),
    (["plan", "problem.json", "--deadline", "0 s"], "is not a time above 0 s"),
    (["plan", "problem.json", "--deadline", "1 s"], "it knows no deadline; the strategy poet does"),
    (["plan", "problem.json", "--objective", "energy"], "it minimises time, not energy"),
    (["plan", "problem.json", "--objective", "power"], "invalid choice: 'power'"),
    (["inspect", "problem.json", "--time", "0"], "is not a time above 0 s"),
    (["render", "plan.json", "-o", "x.png", "--width", "319"], "319 is not between 320 and 30000 pixels"),
    (["render", "plan.json", "-o", "x.png", "--height", "30001"], "30001 is not between 1 and 30000 pixels"),
    (["render", "plan.json", "-o", "x.png", "--width", "9" * 5000], "is too large"),
    (["sweep", "problem.json", "--points", "0"], "'0' is not a whole number above 0"),
    (["sweep", "problem.json", "--points", "99999999"], "99,999,999 is more than 1,000"),
    (["sweep", "problem.json", "--workers", "-1"], "'-1' is not a whole number"),
    (["sweep", "problem.json", "--workers", "100000"], "100,000 is more than 512"),
    (["sweep", "problem.json", "--from", "2GiB", "--to", "1GiB"], "--from (2.00 GiB) is more than --to (1.00 GiB)"),
    (["sweep", "problem.json", "--from", "none"], "a sweep ends at a size"),
    (["sweep", "problem.json", "--device-limit", "tpu"], "there is no device 'tpu'"),
    (["sweep", "problem.json", "--second-from", "1GiB"], "has no meaning without --second-device"),
    (["sweep", "problem.json", "--second-device", "gpu", "--device-limit", "gpu"], "must differ"),
    (["profile", NETWORK, "--runs", "0"], "'0' is not a whole number above 0"),
    (["profile", NETWORK, "--threads", "3", "--processor-time"], "--threads has no meaning"),
    (["profile", NETWORK, "--device", ""], "nothing is given"),
    # --- devices, bindings and the rest of a setup
    (["plan", NETWORK, "--device", "gpu"], "is not of the form NAME=PRESET"),
    (["plan", NETWORK, "--device", " =t4"], "is not of the form NAME=PRESET"),
    (["plan", NETWORK, "--device", "gpu=quantum"], "there is no device preset 'quantum'"),
    (["plan", NETWORK, "--device", "gpu=rtx4090"], "did you mean 'rtx-4090'"),
    (["plan", NETWORK, "--device", "gpu=t4,memory=3"], "'memory=3' is not of the form limit=SIZE"),
    (["plan", NETWORK, "--device", "gpu=t4,limit=x"], "limit of gpu: 'x' is not a size"),
    (["plan", NETWORK, "--device", "gpu=t4,limit=1GiB,limit=2GiB"], "gives the limit twice"),
    (["plan", NETWORK, "--device", "a=t4", "--device", "a=t4"], "the name 'a' is given twice"),
    (["plan", NETWORK, "--device", "a=sd-card-rpi"], "none of the devices (a) computes"),
    (["plan", NETWORK, "--batch", "0"], "'0' is not a whole number above 0"),
    (["plan", NETWORK, "--batch", "1.5"], "'1.5' is not a whole number"),
    (["plan", NETWORK, "--batch", "9" * 18], "the batch must be at most"),
    (["plan", NETWORK, "--bind", "N"], "'N' is not of the form NAME=N"),
    (["plan", NETWORK, "--bind", "=3"], "is not of the form NAME=N"),
    (["plan", NETWORK, "--bind", "batch=3;4"], "'3;4' is not a whole number"),
    (["plan", NETWORK, "--bind", "N=3"], "there is no free dimension 'N'"),
    (["plan", NETWORK, "--size", "x"], "'x' is not of the form NAME=SIZE"),
    (["plan", NETWORK, "--size", "ghost=8"], "there is no tensor 'ghost'"),
    (["plan", NETWORK, "--map", "time=x"], "there is nothing to map"),
    (["plan", NETWORK, "--default", "time"], "is not of the form FIELD=KEY"),
    (["plan", NETWORK, "--optimizer", "adm"], "there is no optimizer 'adm'; did you mean 'adam'?\n"),
    (["plan", NETWORK, "--optimizer", ""], "there is no optimizer ''; there are none, sgd"),
    (["plan", NETWORK, "--costs", "none.csv"], "none.csv: there is no such file."),
    (["plan", NETWORK, "--costs", "folder"], "Is a directory"),
    (["plan", NETWORK, "--costs", "wrong.csv"], "there is no column operator"),
    (["plan", "problem.json", "--costs", "nan.csv"], "time_ns must be a number, not 'nan'"),
    (["plan", "problem.json", "--device", "gpu=t4"], "so --device has no meaning"),
    (["plan", "problem.json", "--batch", "3"], "so --batch has no meaning"),
    (["plan", "problem.json", "--inference"], "so --inference has no meaning"),
    (["plan", "problem.json", "--optimizer", "adam"], "so --optimizer has no meaning"),
    (["plan", "problem.json", "--implementations"], "so --implementations has no meaning"),
    (["plan", "problem.json", "--demo"], "leave out the file"),
    (["plan", "--demo", "--batch", "7"], "--demo: is the demo, so --batch has no meaning."),
    (["plan", "problem.json", "--link", "gpu=pcie4"], "is not of the form A:B=BUS"),
    (["plan", "problem.json", "--link", "gpu:cpu=pcie4"], "must name two of the devices gpu."),
    (["plan", "problem.json", "--link", "gpu:cpu=pcie9"], "did you mean 'pcie"),
    (["plan", "problem.json", "--link", "gpu:cpu=8Gb/s"], "bits?"),
    (["plan", "problem.json", "--link", "gpu:cpu=0"], "must be more than 0"),
    (["plan", "problem.json", "--link", "gpu:cpu=1GB/s,3GB"], "is no time"),
    # --- names
    (["plan", "problem.json", "--strategy", "best"], "there is no strategy 'best'"),
    (["plan", "problem.json", "--strategy", "optimol"], "did you mean 'optimal'?"),
    (["plan", "problem.json", "--strategy", ""], "there is no strategy ''"),
    (["compare", "problem.json", "--strategies", ""], "name at least one"),
    (["compare", "problem.json", "--strategies", "all,best"], "there is no strategy 'best'"),
    (["compare", "plan.json", "plan.json", "plan.json"], "two plans are compared at a time, not 3"),
    (["export", "plan.json", "-o", "x.csv", "--format", "foo"], "invalid choice: 'foo'"),
    (["export", "plan.json", "-o", "x.csv", "--separator", "pipe"], "invalid choice: 'pipe'"),
    (["plan", "problem.json", "--frobnicate"], "xengine plan has no option --frobnicate (see xengine plan --help)."),
    (["plan", "problem.json", "--strat=optimal", "--limmit=gpu=3"], "no option --limmit; did you mean '--limit'?\n"),
    (["plan", "problem.json", "other.json"], "'other.json' is one argument too many (see xengine plan --help)."),
    (["devices", "all"], "'all' is one argument too many"),
]


@pytest.mark.parametrize(("words", "sentence"), BAD)
def test_bad_input_is_told_in_one_sentence(words: list[str], sentence: str, capsys: Captured) -> None:
    assert main(words) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert printed.err.count("\n") == 1
    assert len(printed.err) < 400
    assert printed.out == ""


@FULL
@pytest.mark.parametrize(
    "words",
    [
        ["plan", "problem.json", "-o", "/dev/full"],
        ["export", "plan.json", "--format", "events", "-o", "/dev/full"],
        ["export", "plan.json", "--format", "report", "-o", "/dev/full"],
    ],
)
def test_a_full_disk_is_told_whatever_is_written(words: list[str], capsys: Captured) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err == "/dev/full: cannot be written: No space left on device.\n"


def test_a_target_that_may_not_be_written_is_told_before_anything_is_planned(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    assert main(["plan", "problem.json", "-o", "x.json"]) == 2
    printed = capsys.readouterr()
    assert printed.err == "x.json: cannot be written: that is not allowed there.\n"
    assert printed.out == ""


def test_all_among_other_strategies_is_all(capsys: Captured) -> None:
    assert main(["compare", "problem.json", "--strategies", "greedy,all", "--in-process", "--time", "1"]) == 0
    first, second = capsys.readouterr().out.splitlines()[3:5]
    assert (first.split()[0], second.split()[0]) == ("greedy", "optimal")


NUMBERS = st.one_of(
    st.integers().map(str), st.floats().map(str), st.sampled_from(["²", "0x10", "1_000", "1,5", "\u22121", "+3", " 7 "])
)
UNITS = st.sampled_from(["", "B", "GiB", "Gb", "GB/s", "ms", "%", " s", "none"])
VALUES = st.one_of(st.text(max_size=12), st.builds("{}{}".format, NUMBERS, UNITS))
NAMES = st.one_of(st.sampled_from(["gpu", "cpu", ""]), st.text(max_size=6))
OPTIONS = st.one_of(
    st.tuples(
        st.sampled_from(["--limit", "--bind", "--size", "--map", "--default"]), st.builds("{}={}".format, NAMES, VALUES)
    ),
    st.tuples(st.just("--link"), st.builds("{}:{}={}".format, NAMES, NAMES, VALUES)),
    st.tuples(st.just("--device"), st.builds("{}=t4,limit={}".format, NAMES, VALUES)),
    st.tuples(st.sampled_from(["--batch", "--optimizer", "--costs"]), VALUES),
    st.tuples(st.text(max_size=5), VALUES),
)


@given(options=st.lists(OPTIONS, max_size=2))
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_word_ends_in_a_traceback(capsys: Captured, options: list[tuple[str, str]]) -> None:
    try:
        status = main(["problem", "problem.json", "-o", "out.json", *(word for option in options for word in option)])
    except SystemExit as left:  # by --help, shortened
        status = 0 if left.code in (0, None) else 2
    told = capsys.readouterr().err
    assert status in (0, 2)
    assert bool(told) is (status == 2)
    assert "went wrong" not in told
