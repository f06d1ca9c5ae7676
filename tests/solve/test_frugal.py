"""Plans that are sparing with memory: always valid, and as sparing as closed forms say."""

from dataclasses import replace

from hypothesis import assume, given, settings
from problems import problems
from problems_fixed import chain_problem, training_chain

from xengine_gui.model.device import Device, Link
from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Drop, Move, Run
from xengine_gui.model.problem import Problem
from xengine_gui.model.problem_file import read_problem
from xengine_gui.model.tensor import Tensor
from xengine_gui.schedule.replay import replay_steps
from xengine_gui.solve.feasibility import alone_bytes
from xengine_gui.solve.frugal import frugal_steps
from xengine_gui.solve.greedy import greedy_steps, improve_steps


def never():
    return False


def steps_within(problem):
    steps = frugal_steps(problem.indexed, never)
    if steps is None:
        return None
    assert replay_steps(problem.indexed, steps).valid
    return steps


def graph(*operators, limit_bytes):
    """One device; each operator is (name, inputs, bytes of its one output)."""
    return Problem(
        name="graph",
        devices=(Device("gpu", memory_limit_bytes=limit_bytes),),
        operators=tuple(
            Operator(name, "x", Phase.FORWARD, tuple(inputs), (name,), costs={"gpu": (Implementation(1),)})
            for name, inputs, _ in operators
        ),
        tensors=tuple(Tensor(name, size) for name, _, size in operators),
    )


def test_a_long_training_chain_needs_three_tensors():
    assert steps_within(training_chain(60, 300)) is not None
    assert steps_within(training_chain(60, 299)) is None


def test_the_input_that_takes_most_to_make_comes_first():
    # 'wide' takes 10 on the way and leaves 1, 'flat' takes and leaves 4: only wide before flat stays within 10.
    operators = [("flat", (), 4), ("a", (), 9), ("wide", ("a",), 1), ("sum", ("flat", "wide"), 1)]
    assert steps_within(graph(*operators, limit_bytes=10)) is not None
    assert steps_within(graph(*operators, limit_bytes=9)) is None


def test_what_two_inputs_depend_on_is_made_once_where_it_cannot_be_made_twice():
    # Making 'top' takes 10. With 'left' there it could not be made again for 'right', so it stays for both.
    operators = [
        ("a", (), 5), ("top", ("a",), 5), ("left", ("top",), 2), ("right", ("top",), 2), ("other", (), 6),
        ("end", ("left", "right"), 2),
    ]  # fmt: skip
    assert steps_within(graph(*operators, limit_bytes=10)) is not None


def test_what_must_not_be_computed_again_waits_on_a_device_without_operators():
    problem = training_chain(3, 300)
    first, *rest = problem.operators
    host = (Device("host", "cpu"), *problem.devices)
    links = (Link("gpu", "host", 10**9, 0), Link("host", "gpu", 10**9, 0))
    problem = replace(problem, devices=host, operators=(replace(first, recomputable=False), *rest))
    assert steps_within(problem) is None
    steps = steps_within(replace(problem, links=links))
    assert steps is not None
    assert any(isinstance(step, Move) for step in steps)


def test_stopped_it_gives_no_plan():
    assert frugal_steps(training_chain(6, 300).indexed, lambda: True) is None


@given(problem=problems(max_operators=7))
@settings(deadline=None, max_examples=80)
def test_random_problems_get_valid_steps_or_none(problem):
    steps_within(problem)


@given(problem=problems(max_operators=7, max_devices=3, limits=False, connected=True))
@settings(deadline=None, max_examples=50)
def test_without_limits_there_is_always_a_plan(problem):
    assert steps_within(problem) is not None


@given(problem=problems(max_operators=7, max_devices=1, limits=False))
@settings(deadline=None, max_examples=50)
def test_chains_of_trees_reach_what_the_largest_operator_takes(problem):
    # Where every operator reads one tensor at most and nothing is kept, its own tensors are all that must be there.
    operators = tuple(replace(o, inputs=o.inputs[:1], recomputable=True) for o in problem.operators)
    problem = replace(problem, operators=operators, keep=())
    assume(operators)
    (device,) = problem.devices
    assert steps_within(problem.with_limit(device.name, alone_bytes(problem.indexed, 0))) is not None


def test_where_nothing_else_finds_a_plan_the_greedy_strategy_is_sparing(shared_folder):
    problem = read_problem(shared_folder / "instances" / "published" / "unet_p100_training.json")
    indexed = problem.with_limit("gpu", alone_bytes(problem.indexed, 0)).indexed
    steps = greedy_steps(indexed, never, effort=0)
    assert steps is not None
    assert replay_steps(indexed, steps).valid


def test_a_long_row_of_recomputations_is_taken_out_whole():
    length = 1500
    indexed = chain_problem(length=length + 1).indexed

    def row():
        for operator in range(length):
            yield Run(0, operator)
            yield from [Drop(0, operator - 1)] if operator else []

    steps = [*row(), Drop(0, length - 1), *row(), Run(0, length)]
    improved = improve_steps(indexed, steps, never)
    assert replay_steps(indexed, improved).total_ns == 10 * (length + 1)


def test_published_networks_fit_where_their_largest_operator_does(shared_folder):
    for name in ("unet", "vgg16", "mobilenet_v2"):
        problem = read_problem(shared_folder / "instances" / "published" / f"{name}_p100_training.json")
        assert steps_within(problem.with_limit("gpu", alone_bytes(problem.indexed, 0))) is not None, name
