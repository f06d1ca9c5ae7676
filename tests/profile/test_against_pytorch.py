"""The peak of live tensors of a training step in PyTorch against that of a plan that retains everything."""

import pytest

from xengine_gui import planner
from xengine_gui.cost import DeviceChoice
from xengine_gui.model.graph import NetworkGraph

torch = pytest.importorskip("torch")

from benchmarks.predicted_and_measured import LiveTensors, as_in_pytorch, training_step_peak_bytes  # noqa: E402

# PyTorch warns of its own ways.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(("name", "batch"), [("lenet", 64), ("resnet18", 4), ("mobilenet_v2", 2)])
def test_peaks_are_within_five_percent(name: str, batch: int) -> None:
    path = next(path for path in planner.sample_networks() if path.stem == name)
    network = planner.open_file(path, batch=batch)
    assert isinstance(network, NetworkGraph)
    problem = planner.make_problem(as_in_pytorch(network), [DeviceChoice("cpu", "epyc-7763")])
    ours = planner.plan(problem.without_limits(), "retain-all").peak_bytes["cpu"]
    assert ours == pytest.approx(training_step_peak_bytes(network), rel=0.05)


def test_live_tensors_are_counted() -> None:
    with LiveTensors() as live:
        one = torch.zeros(1000)
        view = one.view(10, 100)
        two = one + 1
        del one, view
        three = two * 2
        del two
    assert (live.level_bytes, live.peak_bytes) == (4000, 8000)
    assert three.numel() == 1000
