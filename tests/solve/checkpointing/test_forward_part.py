"""The forward part: where it ends, what crosses its boundaries, and where one tensor cuts it."""

from dataclasses import replace

from reversal_chains import recording_chain, result_chain, state_chain

from xengine_gui.model.device import Device
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.problem import Problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.solve.checkpointing.forward_part import ForwardPart, forward_part
from xengine_gui.solve.formulations.one_device import single_devices


def part_of(problem: Problem) -> ForwardPart:
    return forward_part(problem, single_devices(problem)[0])


def graph(*reads: tuple[int, ...], phases: str = "", sizes: tuple[int, ...] = ()) -> Problem:
    """Operator i makes tensor i out of those it reads; `phases` has f or b for each, forward where it is empty."""
    operators = tuple(
        Operator(
            f"o{i}",
            "x",
            Phase.BACKWARD if phases[i : i + 1] == "b" else Phase.FORWARD,
            tuple(f"t{t}" for t in read),
            (f"t{i}",),
            costs={"gpu": (Implementation(1),), "cpu": (Implementation(3),)},
        )
        for i, read in enumerate(reads)
    )
    tensors = tuple(Tensor(f"t{i}", sizes[i] if sizes else 1) for i in range(len(reads)))
    return Problem("graph", (Device("cpu", ""), Device("gpu", "")), operators, tensors)


def test_the_turn_is_the_first_operator_that_is_not_forward() -> None:
    assert part_of(state_chain(4)).turn == 5


def test_without_phases_the_turn_is_where_most_bytes_wait() -> None:
    # After the loss all results and the first gradient wait.
    assert part_of(result_chain(4)).turn == 5


def test_the_fastest_single_device_comes_first_and_one_that_cannot_run_everything_not_at_all() -> None:
    problem = graph((), (0,))
    assert [one.device for one in single_devices(problem)] == [1, 0]
    last = replace(problem.operators[1], costs={"cpu": (Implementation(1),)})
    assert [one.device for one in single_devices(replace(problem, operators=(problem.operators[0], last)))] == [0]


def test_on_a_chain_every_state_is_an_articulation() -> None:
    part = part_of(state_chain(4))
    assert part.articulations == part.boundaries == (1, 2, 3, 4)
    names = [[part.indexed.producer[t] for t in part.cut(b)] for b in part.articulations]
    assert names == [[0], [1], [2], [3]]


def test_a_skip_joins_what_it_spans() -> None:
    # t1 is read by 2 and by 4, which adds it to t3: one tensor crosses only before 1, 2 and 5.
    part = part_of(graph((), (0,), (1,), (2,), (1, 3), (4,), (5,), phases="ffffffb"))
    assert part.articulations == (1, 2, 5)
    assert part.boundaries == (1, 2, 3, 4, 5)
    assert part.cut(4) == [1, 3]


def test_what_must_not_be_computed_again_lasts_and_is_no_step() -> None:
    part = part_of(recording_chain(3))
    assert part.lasting[0]
    assert part.boundaries == (2, 3)
    assert all(0 not in part.cut(b) for b in range(part.turn + 1))


def test_a_light_tensor_that_most_of_the_forward_part_reads_lasts() -> None:
    reads = ((), (), (0, 1), (0, 2), (0, 3), (4,))
    heavy, light = (1000,) * 6, (1, 1000, 1000, 1000, 1000, 1000)
    assert part_of(graph(*reads, phases="fffffb", sizes=heavy)).articulations == (1,)
    assert part_of(graph(*reads, phases="fffffb", sizes=light)).articulations == (2, 3, 4)
    assert part_of(graph(*reads, phases="fffffb", sizes=light)).lasting[0]


def test_gradients_and_kept_tensors_last() -> None:
    problem = replace(state_chain(3), keep=("x1",))
    part = part_of(problem)
    names = {problem.tensors[t].name for t, lasts in enumerate(part.lasting) if lasts}
    assert names == {"x1", "g0", "g1", "g2", "g3"}
