from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from plans_fixed import CPU, F0, F1, F2, GPU, MOVING, RECOMPUTING, T0, four_operators, plan_of_four
from problems import problems_with_steps

from xengine_gui.model.operator import Implementation, Operator, Phase
from xengine_gui.model.plan import Drop, Move, Run, Step
from xengine_gui.model.problem import Problem
from xengine_gui.schedule.finish import finished_plan
from xengine_gui.schedule.narrate import Narrator, headline


def told(steps: Sequence[Step] = RECOMPUTING, problem: Problem | None = None) -> list[str]:
    plan = plan_of_four(steps, problem)
    narrator = Narrator(plan)
    return [narrator.sentence(i) for i in range(len(plan.events))]


def test_a_plan_that_recomputes() -> None:
    assert told() == [
        "compute f0 on gpu, 10 ns: it makes t0 (100 B), which f1 reads first",
        "compute f1 on gpu, 20 ns: it makes t1 (100 B), which f2 reads first",
        "free t0 on gpu: its last use was f1; for b1 it is computed again in stage 4",
        "compute f2 on gpu, 30 ns: it makes t2 (100 B), which b1 reads first",
        "free t1 on gpu: its last use was f2",
        "recompute f0 on gpu, 10 ns: b1 needs t0, freed in stage 3",
        "compute b1 on gpu, 40 ns: it makes g (50 B), which must be there at the end",
        "free t0 on gpu: its last use was b1",
        "free t2 on gpu: its last use was b1",
    ]


def test_a_plan_that_moves() -> None:
    sentences = told(MOVING)
    assert sentences[2] == ("transfer t0 from gpu to cpu, 105 ns: it waits there until stage 4, when it goes on to gpu")
    assert (
        sentences[3] == "free t0 on gpu: its last use was the transfer to cpu; for b1 it comes back from cpu in stage 4"
    )
    assert sentences[6] == "transfer t0 from cpu to gpu, 105 ns: b1 needs it there"
    assert sentences[7] == "free t0 on cpu: its last use was the transfer to gpu"


def test_what_is_brought_in_vain_is_told_so() -> None:
    steps = (Run(GPU, F0), Move(GPU, CPU, T0), Run(GPU, F0), Run(GPU, F1), Run(CPU, F0), Drop(CPU, T0))
    sentences = told(steps, four_operators(limit_bytes=None))
    assert sentences[1] == "transfer t0 from gpu to cpu, 105 ns: nothing reads it there"
    assert sentences[2] == "recompute f0 on gpu, 10 ns: all that it makes was still there"
    assert sentences[4] == "recompute f0 on cpu, 100 ns: all that it makes was still there"
    assert sentences[5] == "free t0 on cpu: nothing used it there"


def test_recomputed_on_another_device() -> None:
    steps = (Run(GPU, F0), Run(CPU, F0), Run(CPU, F1), Drop(CPU, T0))
    sentences = told(steps, four_operators(limit_bytes=None))
    assert sentences[1] == "recompute f0 on cpu, 100 ns: f1 needs t0, which is only on gpu"


def test_an_operator_without_results() -> None:
    update = Operator("update", "Update", Phase.UPDATE, (), (), costs={"gpu": (Implementation(5),)})
    base = four_operators()
    problem = Problem("one", base.devices, (update,), ())
    plan = finished_plan(problem, "by hand", (Run(GPU, 0),))
    assert Narrator(plan).sentence(0) == "compute update on gpu, 5 ns: it makes nothing that takes memory"


def test_stages_end_with_first_computations() -> None:
    plan = plan_of_four()
    assert [Narrator(plan).stage(i) for i in range(9)] == [1, 2, 3, 3, 4, 4, 4, 4, 4]


def test_what_is_told_before_the_first_event() -> None:
    assert headline(plan_of_four()) == "a training step of 4 operators in 9 events: 1 recomputation, 0 transfers"
    assert headline(plan_of_four((Run(GPU, F0), Run(GPU, F1), Run(GPU, F2)))).endswith("0 recomputations, 0 transfers")


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_every_event_has_one_sentence_with_its_kind_and_name(data: st.DataObject) -> None:
    problem, steps = data.draw(problems_with_steps())
    plan = finished_plan(problem, "by hand", steps)
    narrator = Narrator(plan)
    for i, event in enumerate(plan.events):
        sentence = narrator.sentence(i)
        name = getattr(event, "operator", "") or getattr(event, "tensor", "")
        assert sentence.startswith(f"{event.kind} {name} ")
        assert "\n" not in sentence
        assert "None" not in sentence
