"""What training graphs keep for the backward, against what PyTorch's autograd keeps.

What PyTorch keeps is written down in a file, which the rules are compared with everywhere; that it still keeps so is
compared where it is installed.
"""

from pathlib import Path

import pytest
from recorded_modules import Recorded, recorded, saved_by_graph, table_line, version

from xengine_gui.training import training_graph

README = Path(__file__).resolve().parents[2] / "README.md"
MODULES, KINDS = recorded("modules"), recorded("kinds")

# PyTorch warns of its own ways.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("row", [r for r in (*MODULES, *KINDS) if not r.why], ids=lambda row: row.title)
def test_the_rules_keep_what_autograd_keeps(row: Recorded) -> None:
    graph = training_graph(row.network)
    assert all(operator.known for operator in row.network.operators)
    assert saved_by_graph(graph) == pytest.approx(row.pytorch_bytes, rel=0.01)


@pytest.mark.parametrize("row", MODULES, ids=lambda row: row.title)
def test_the_table_of_the_readme_is_what_was_measured(row: Recorded) -> None:
    readme = README.read_text(encoding="utf-8")
    line = table_line(row.title, row.pytorch_bytes, saved_by_graph(training_graph(row.network)), row.why)
    assert line in readme, "PYTHONPATH=tests python tests/torch_modules.py prints the table anew"


def test_there_are_enough_kinds() -> None:
    assert len(KINDS) > 50


def test_what_is_written_down_is_what_pytorch_keeps() -> None:
    torch = pytest.importorskip("torch")
    if torch.__version__.partition("+")[0] != version():
        pytest.skip(f"what PyTorch {version()} keeps is written down, and this is {torch.__version__}")
    from torch_modules import kinds_now, modules_now  # noqa: PLC0415 - loads PyTorch

    assert modules_now() == MODULES
    assert kinds_now() == KINDS
