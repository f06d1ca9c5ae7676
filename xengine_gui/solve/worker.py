"""The solver's process: strategies run in a spawned child, so that a stop is honest and a crash is only a message.

The child is spawned, never forked: after one HiGHS solve a forked child hangs on its next. It imports no Qt, reads
requests and stops from one pipe in a thread of its own, and ends when the pipe does, so none outlives the window.
"""

import contextlib
import gc
import importlib
import multiprocessing
import os
import queue
import signal
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from xengine_gui.errors import PlannerError, SolverProcessError
from xengine_gui.model.plan import Plan, Status
from xengine_gui.model.problem import Problem
from xengine_gui.solve.base import (
    Bound,
    Finished,
    Incumbent,
    Log,
    SolveContext,
    SolveEvent,
    SolveOptions,
    Started,
)
from xengine_gui.solve.judge import Judge, planned

STOP_GRACE_S = 0.5
"""A child that has not handed back its plan this long after a stop is killed."""

TIME_LIMIT_GRACE_S = 4.0
"""A child that is still busy this long after its time limit is killed (presolve alone may take some seconds)."""

_LIBRARY = "xengine_gui.solve.strategies"
_STOP = "stop"
_CLOSED = "the solver process was closed"
_POLL_S = 0.03
# A large graph is a million objects that live as long as its plan: looking through them for garbage is rarely worth it.
_GC_THRESHOLDS = (100_000, 50, 100)


@dataclass(frozen=True, slots=True)
class _Request:
    problem: Problem
    strategy: str
    options: SolveOptions


@dataclass(frozen=True, slots=True)
class _SentPlan:
    """An event's plan on its way through the pipe, without the problem, which both ends have."""

    event: type[Incumbent] | type[Finished]
    plan_fields: dict[str, Any]
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class _Failure:
    """A strategy raised; `error` is what the user is told."""

    error: PlannerError


_Message = Started | Bound | Log | _SentPlan | _Failure


@dataclass
class _Child:
    process: SpawnProcess
    pipe: Connection

    def kill(self) -> None:
        self.process.kill()
        self.process.join()

    def close(self) -> None:
        self.kill()
        self.pipe.close()


@dataclass
class _Run:
    """What the parent knows of the plan in progress."""

    problem: Problem
    strategy: str
    options: SolveOptions
    stop: threading.Event
    judge: Judge
    began: float = field(default_factory=time.monotonic)
    stop_sent_at: float | None = None
    child_has_begun: bool = False

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.began

    def overdue(self, stop_grace_s: float) -> str:
        """Why the child has to be killed now; empty while it may go on."""
        if self.stop_sent_at is not None and time.monotonic() - self.stop_sent_at > stop_grace_s:
            return "stopped"
        limit = self.options.time_limit_s
        if limit is not None and self.elapsed_s > limit + TIME_LIMIT_GRACE_S:
            return f"the time limit of {limit:g} s was reached"
        return ""


class SolverProcess:
    """A child process that plans, one problem at a time.

    `start` spawns it ahead of need. `plan` is to be used from one thread; `stop` and `close` from any. `library` is the
    module that the child asks for a strategy by key; a child that does not hear a stop is killed after `stop_grace_s`.
    """

    def __init__(self, *, library: str = _LIBRARY, stop_grace_s: float = STOP_GRACE_S) -> None:
        self._library = library
        self._stop_grace_s = stop_grace_s
        self._context = multiprocessing.get_context("spawn")
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._stop: threading.Event | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The child's process id, `None` while there is no child."""
        child = self._child
        return None if child is None else child.process.pid

    def start(self) -> None:
        """Spawn the child where there is none; it is ready in about a second, and requests wait for it."""
        self._ready_child()

    def plan(
        self, problem: Problem, strategy_key: str, options: SolveOptions, *, stop: threading.Event | None = None
    ) -> Iterator[SolveEvent]:
        """The events of planning `problem`, ending with `Finished`; blocks between them.

        Every plan handed on has passed `verify` here. Setting `stop` (or calling `stop()`) ends it within half a
        second with the best plan so far. Raises `SolverProcessError` when the child dies; what was handed on stays
        good, and the next call plans on a new child.
        """
        judge = Judge(problem, strategy_key, options.objective, options.deadline_ns)
        run = _Run(problem, strategy_key, options, stop or threading.Event(), judge)
        self._stop = run.stop
        return self._drive(run)

    def stop(self) -> None:
        """Ask the plan in progress to end with what it has."""
        if self._stop is not None:
            self._stop.set()

    def close(self) -> None:
        """Kill the child; a plan in progress ends with a `SolverProcessError`."""
        with self._lock:
            self._closed = True
            child, self._child = self._child, None
        if child is not None:
            child.kill()  # whoever waits for it reads the end of the pipe

    def _ready_child(self) -> _Child:
        with self._lock:
            if self._closed:
                raise SolverProcessError(_CLOSED)
            if self._child is not None and self._child.process.is_alive():
                return self._child
            if self._child is not None:
                self._child.close()
            here, there = self._context.Pipe()
            process = self._context.Process(target=_serve, args=(there, self._library), name="solver", daemon=True)
            try:
                process.start()
            except (OSError, RuntimeError) as error:  # a script without a main guard raises the second
                here.close()
                raise SolverProcessError(f"the solver process could not be started: {str(error).strip()}") from error
            finally:
                there.close()
            self._child = _Child(process, here)
            return self._child

    def _discard(self, child: _Child) -> None:
        with self._lock:
            if self._child is child:
                self._child = None
        child.close()

    def _drive(self, run: _Run) -> Iterator[SolveEvent]:
        try:
            yield from self._attempt(run)
        except SolverProcessError:
            if run.child_has_begun:
                raise
            # It had died while it was idle, which for a moment cannot be seen: a new one has not.
            yield from self._attempt(run)

    def _attempt(self, run: _Run) -> Iterator[SolveEvent]:
        child = self._ready_child()
        run.began = time.monotonic()
        whole = False
        try:
            with contextlib.suppress(OSError):  # a dead child is told by the pipe's end below
                child.pipe.send(_Request(run.problem, run.strategy, run.options))
            for message in self._messages(child, run):
                run.child_has_begun = True
                if isinstance(message, _Failure):
                    whole = True
                    raise message.error
                event = _received(message, run)
                whole = isinstance(event, Finished)
                if event is not None:
                    yield event
                if whole:
                    return
        finally:
            if not whole:
                self._discard(child)
                with contextlib.suppress(SolverProcessError):
                    self.start()

    def _messages(self, child: _Child, run: _Run) -> Iterator[_Message]:
        """What the child says until it dies or is killed; then the best plan so far, or an error."""
        while True:
            if run.stop.is_set() and run.stop_sent_at is None:
                run.stop_sent_at = time.monotonic()
                with contextlib.suppress(OSError):
                    child.pipe.send(_STOP)
            overdue = run.overdue(self._stop_grace_s)
            if overdue:
                child.kill()
                yield from _rest(child.pipe)
                yield _SentPlan(Finished, _plan_fields(run.judge.best_so_far(overdue, run.elapsed_s)), run.elapsed_s)
                return
            if not wait([child.pipe], timeout=_POLL_S):
                continue
            try:
                message = child.pipe.recv()
            except (EOFError, OSError) as error:
                if self._closed:
                    raise SolverProcessError(_CLOSED) from error
                child.process.join()
                raise SolverProcessError(_last_words(child.process.exitcode, run)) from error
            yield message


def _rest(pipe: Connection) -> Iterator[_Message]:
    with contextlib.suppress(EOFError, OSError):
        while True:
            yield pipe.recv()


def _last_words(exit_code: int | None, run: _Run) -> str:
    how = f"signal {-exit_code}" if exit_code is not None and exit_code < 0 else f"exit status {exit_code}"
    kept = "the plan so far is kept" if run.judge.best is not None else "there is no plan yet"
    return f"the solver process died ({how}); {kept}, plan again to retry"


def _plan_fields(plan: Plan) -> dict[str, Any]:
    return {f.name: getattr(plan, f.name) for f in fields(plan) if f.name != "problem"}


def _received(message: "Started | Bound | Log | _SentPlan", run: _Run) -> SolveEvent | None:
    """The event of a message, with its plan judged; `None` where it is no news."""
    if not isinstance(message, _SentPlan):
        return run.judge.heard(message)
    plan = Plan(problem=run.problem, **message.plan_fields)
    if message.event is Incumbent:
        return run.judge.heard(Incumbent(plan, message.elapsed_s))
    plan = run.judge.last(plan)
    if run.stop.is_set() and plan.has_events and not plan.explanation and plan.status is not Status.OPTIMAL:
        plan = replace(plan, explanation="stopped; this is the best plan so far")
    return Finished(plan, message.elapsed_s)


class _Mailbox:
    """The child's end of the pipe: requests come in by a thread, events go out from any."""

    def __init__(self, pipe: Connection) -> None:
        self.requests: queue.SimpleQueue[tuple[_Request, threading.Event]] = queue.SimpleQueue()
        self._pipe = pipe
        self._lock = threading.Lock()
        threading.Thread(target=self._read, name="requests", daemon=True).start()

    def _read(self) -> None:
        stop = threading.Event()
        while True:
            try:
                message = self._pipe.recv()
            except (EOFError, OSError):
                os._exit(0)  # the window is gone, and a solver in C code would not hear anything softer
            if isinstance(message, _Request):
                stop = threading.Event()
                self.requests.put((message, stop))
            else:
                stop.set()

    def send(self, event: SolveEvent | _Failure) -> None:
        message: _Message
        if isinstance(event, Incumbent | Finished):
            message = _SentPlan(type(event), _plan_fields(event.plan), event.elapsed_s)
        else:
            message = event
        with self._lock, contextlib.suppress(OSError):
            self._pipe.send(message)


def _serve(pipe: Connection, library: str) -> None:
    """The child's life: plan what is asked for until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to answer
    if "fork" in multiprocessing.get_all_start_methods():
        # Nothing is forked here; but a lock made under this method (Pyomo makes one) leaves nothing when we are killed.
        multiprocessing.set_start_method("fork", force=True)
    gc.set_threshold(*_GC_THRESHOLDS)
    mailbox = _Mailbox(pipe)
    strategies = importlib.import_module(library)
    while True:
        request, stop = mailbox.requests.get()
        context = SolveContext(request.options, mailbox.send, stop)
        mailbox.send(Started(request.strategy))
        try:
            plan = planned(strategies.strategy(request.strategy), request.problem, context)
        except PlannerError as error:
            mailbox.send(_Failure(error))
        except Exception as error:  # noqa: BLE001 - whatever a strategy does wrong, the window has to hear of it
            context.log(traceback.format_exc())
            sentence = f"the strategy {request.strategy} failed: {type(error).__name__}: {error}"
            mailbox.send(_Failure(SolverProcessError(sentence)))
        else:
            mailbox.send(Finished(plan, context.elapsed_s))
        _tidy()


def _tidy() -> None:
    """Look for the garbage that a strategy has put off: the model that it was at when it was stopped."""
    if gc.get_freeze_count():
        gc.unfreeze()
        gc.collect()
