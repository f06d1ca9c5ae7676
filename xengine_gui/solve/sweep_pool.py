"""Who plans the points of a sweep: this thread, solver processes side by side, or the workers of a Dask scheduler."""

import concurrent.futures
import importlib
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from xengine_gui.errors import InputError, SolverProcessError
from xengine_gui.model.plan import Plan
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import Finished, SolveOptions
from xengine_gui.solve.judge import plan_judged
from xengine_gui.solve.strategies import strategy
from xengine_gui.solve.worker import SolverProcess

Task = tuple[Problem, str, SolveOptions]
Future = concurrent.futures.Future[Plan]


@dataclass
class Pool:
    """How many tasks may run at a time, and how one is handed over."""

    capacity: int
    submit: Callable[[Task], Future]


def core_count() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def plan_one(problem: Problem, strategy_key: str, options: SolveOptions, stop: threading.Event) -> Plan:
    """Plan one point; what breaks a rule is no plan."""
    return plan_judged(strategy(strategy_key), problem, options, stop=stop)


@contextmanager
def opened(workers: int | None, tasks: int, scheduler_address: str | None, stop: threading.Event) -> Iterator[Pool]:
    """A pool for so many tasks; those at work end with their best plan once `stop` is set."""
    if scheduler_address is not None:
        with _dask(scheduler_address) as pool:
            yield pool
        return
    count = min(tasks, core_count() if workers is None else workers)
    if count == 0:
        yield Pool(1, lambda task: _done(task, stop))
        return
    with _processes(count, stop) as pool:
        yield pool


@contextmanager
def _processes(count: int, stop: threading.Event) -> Iterator[Pool]:
    """Each process is owned by whoever holds it: killed where it does not hear the stop, replaced where it dies."""
    idle: queue.SimpleQueue[SolverProcess] = queue.SimpleQueue()
    processes = [SolverProcess() for _ in range(count)]
    for process in processes:
        idle.put(process)

    def plan(task: Task) -> Plan:
        process = idle.get()
        try:
            for event in process.plan(*task, stop=stop):
                if isinstance(event, Finished):
                    return event.plan
            raise SolverProcessError("the solver process ended without a plan")
        finally:
            idle.put(process)

    with concurrent.futures.ThreadPoolExecutor(count, "sweep") as threads:
        try:
            yield Pool(count, lambda task: threads.submit(plan, task))
        finally:
            for process in processes:
                process.close()


def _done(task: Task, stop: threading.Event) -> Future:
    future: Future = concurrent.futures.Future()
    try:
        future.set_result(plan_one(*task, stop))
    except Exception as error:  # noqa: BLE001 - raised again where the result is asked for
        future.set_exception(error)
    return future


def _work(problem: Problem, strategy_key: str, options: SolveOptions) -> Plan:
    return plan_one(problem, strategy_key, options, threading.Event())


@contextmanager
def _dask(address: str) -> Iterator[Pool]:
    """Tasks that run when the sweep is stopped are left to end by their own time limit."""
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise InputError("", "a Dask scheduler needs the extra: pip install 'xengine-gui[dask]'") from None
    try:
        client = distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError("", f"there is no Dask scheduler at {address}: {error}") from None
    with client:
        cores = sum(client.nthreads().values())
        executor = client.get_executor(pure=False)
        yield Pool(max(1, cores), lambda task: executor.submit(_work, *task))
        executor.shutdown(wait=False)
