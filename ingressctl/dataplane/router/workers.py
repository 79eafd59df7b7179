"""Several processes on one port: each takes its part of the connections.

The sockets are made before the processes, one for each, so that a process that dies leaves
its connections to the one that stands in for it. The first process makes no event loop: it
waits for signals, and hands them on.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ingressctl.dataplane.router import graphs
from ingressctl.dataplane.router.serving import Plan, Process, Sockets, run
from ingressctl.dataplane.router.sharing import Shared

LOG = logging.getLogger("ingressctl.router")

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 10.0
"""How long a process stays away that has died: twice as long each time."""

STEADY = 30.0
"""After so long the next death is a first one again."""


class PortTaken(Exception):
    """A port cannot be listened on. The message is for people."""


def serve(plan: Plan, *, port: int, metrics_port: int, workers: int) -> int:
    """The exit code, after a signal. Raises PortTaken."""
    made = [_sockets(port, metrics_port, shared=workers > 1)]
    port = made[0].requests.getsockname()[1]  # the same for all, if any would do
    made += [_sockets(port, metrics_port, shared=True) for _ in range(workers - 1)]
    if workers == 1:
        run(lambda: Process(plan, made[0]))
        return 0
    return _Herd(plan, made).keep()


def _sockets(port: int, metrics_port: int, *, shared: bool) -> Sockets:
    metrics = _bound(metrics_port, shared=shared) if metrics_port else None
    return Sockets(_bound(port, shared=shared), metrics)


def _bound(port: int, *, shared: bool) -> socket.socket:
    """A listening socket on all addresses. Raises PortTaken."""
    if socket.has_dualstack_ipv6():
        with contextlib.suppress(OSError):  # a kernel may know IPv6 and not have it
            return _on(port, socket.AF_INET6, shared=shared)
    try:
        return _on(port, socket.AF_INET, shared=shared)
    except OSError as fault:
        raise PortTaken(f"port {port} cannot be listened on: {fault.strerror}") from None


def _on(port: int, family: socket.AddressFamily, *, shared: bool) -> socket.socket:
    return socket.create_server(
        ("", port),
        family=family,
        backlog=4096,
        reuse_port=shared,
        dualstack_ipv6=family == socket.AF_INET6,
    )


@dataclass(slots=True)
class _Worker:
    """One place among the processes, and who has it."""

    pid: int = 0
    since: float = 0.0
    pause: float = FIRST_PAUSE
    again: float = 0.0


class _Herd:
    """The processes, seen from the first one."""

    def __init__(self, plan: Plan, sockets: list[Sockets]) -> None:
        self._plan = plan
        self._sockets = sockets
        self._shared = Shared(len(sockets))
        self._workers = [_Worker() for _ in sockets]
        self._ending = False
        self._code = 0

    def keep(self) -> int:
        """Until all have ended after a signal."""
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        for number in range(len(self._workers)):
            self._fork(number)
        while any(worker.pid for worker in self._workers) or not self._ending:
            received = signal.sigtimedwait(_SIGNALS, self._patience())
            if received is not None and received.si_signo != signal.SIGCHLD:
                self._hand_on(received.si_signo)
            self._bury()
            self._raise_dead()
        return self._code

    def _patience(self) -> float:
        """Until the next one is to stand in."""
        waiting = [worker.again for worker in self._workers if not worker.pid]
        return max(0.0, min(waiting) - time.monotonic()) if waiting and not self._ending else 5.0

    def _hand_on(self, number: int) -> None:
        """The processes go on listening for a while; this one must not keep their sockets."""
        if not self._ending:
            self._ending = True
            for sockets in self._sockets:
                sockets.close()
        for worker in self._workers:
            if worker.pid:
                os.kill(worker.pid, number)

    def _bury(self) -> None:
        """Note who has died."""
        for number, worker in enumerate(self._workers):
            if not worker.pid:
                continue
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if pid:
                self._note(number, worker, os.waitstatus_to_exitcode(status))

    def _note(self, number: int, worker: _Worker, code: int) -> None:
        worker.pid = 0
        if self._ending:
            self._code = self._code or (2 if code else 0)
            return
        now = time.monotonic()
        worker.pause = FIRST_PAUSE if now - worker.since > STEADY else worker.pause
        worker.again = now + worker.pause
        LOG.error(
            "a process has ended, another one stands in",
            extra={"keys": {"process": number, "code": code, "in_seconds": worker.pause}},
        )
        worker.pause = min(LONGEST_PAUSE, worker.pause * 2)

    def _raise_dead(self) -> None:
        now = time.monotonic()
        for number, worker in enumerate(self._workers):
            if not self._ending and not worker.pid and worker.again <= now:
                self._fork(number)

    def _fork(self, number: int) -> None:
        pid = os.fork()
        if pid:
            worker = self._workers[number]
            worker.pid, worker.since = pid, time.monotonic()
            return
        code = 2
        try:
            self._be(number)
            code = 0
        except Exception as defect:
            LOG.exception("a process failed", extra={"keys": {"error": f"{defect!r}"}})
        finally:
            sys.stdout.flush()
            os._exit(code)

    def _be(self, number: int) -> None:
        """Be one of the processes; a terminal tells only the first one."""
        os.setpgrp()
        for other, sockets in enumerate(self._sockets):
            if other != number:
                sockets.close()
        plan = _as_served(self._plan, self._shared.kept())
        make: Callable[[], Process] = lambda: Process(  # noqa: E731
            plan, self._sockets[number], shared=self._shared, number=number
        )
        run(make)


def _as_served(plan: Plan, text: bytes) -> Plan:
    """The plan with the graph that the other processes serve by now, if there is a later one.

    What the file says may since have been refused, or be gone: whoever stands in for a dead
    process must not go back to the graph of the start.
    """
    if not text:
        return plan
    graph = graphs.parse(text, plan.compat, name=str(plan.file))
    return replace(plan, spec=graph.spec, unknown=graph.unknown)


_SIGNALS = frozenset((signal.SIGTERM, signal.SIGINT, signal.SIGCHLD))
