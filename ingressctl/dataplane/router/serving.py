"""One process of the router, from its sockets to its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ingressctl.api.inferencegraphs import Spec
from ingressctl.core.differences import Compat
from ingressctl.dataplane.router import exposing, graphs, settings
from ingressctl.dataplane.router.accesslog import AccessLog
from ingressctl.dataplane.router.admission import LEAST, MOST, Admission
from ingressctl.dataplane.router.counting import Counts, Snapshot, total
from ingressctl.dataplane.router.graphs import GraphFile, Unfit
from ingressctl.dataplane.router.ports import Engine, Observer, Upstream
from ingressctl.dataplane.router.server import Server, Watcher
from ingressctl.dataplane.router.sharing import Shared
from ingressctl.dataplane.router.upstream import Client

LOG = logging.getLogger("ingressctl.router")

LOOK = 1.0
"""How often the file of the graph is looked at, in seconds."""

SHARE = 0.5
"""How often the numbers are shown to the other processes."""


class Build(Protocol):
    """Makes the engine of a graph."""

    def __call__(self, spec: Spec, *, upstream: Upstream, observe: Observer) -> Engine:
        """Ready to run."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What the router is to do. `spec` is the graph, and `file` where it may change.

    `unknown` are the fields of the graph that have been told of, and `propagate` the patterns
    of the environment.
    """

    spec: Spec
    build: Build
    compat: Compat
    unknown: tuple[str, ...] = ()
    propagate: tuple[str, ...] = ()
    file: Path | None = None
    max_request_bytes: int | None = None
    max_in_flight: int = 0
    queue: int = 4096
    drain_seconds: float = 20.0
    access_log: bool = False


@dataclass(frozen=True, slots=True)
class Sockets:
    """What a process listens on."""

    requests: socket.socket
    metrics: socket.socket | None = None

    def close(self) -> None:
        """Listen no more, in this process."""
        self.requests.close()
        if self.metrics is not None:
            self.metrics.close()


class Process:
    """Serves until a signal. `number` is its part of the shared numbers."""

    def __init__(
        self, plan: Plan, sockets: Sockets, *, shared: Shared | None = None, number: int = 0
    ) -> None:
        self._plan = plan
        self._sockets = sockets
        self._shared = shared
        self._number = number
        self._spec, self._unknown = plan.spec, plan.unknown
        self._counts = Counts()
        self._file = GraphFile(plan.file) if plan.file else None
        self._is_gone = False
        self._signals: asyncio.Queue[int] = asyncio.Queue()

    async def run(self) -> None:
        """Until SIGTERM or SIGINT, and what runs then has been answered."""
        if self._shared is not None:
            self._counts.resume(self._shared.read(self._number))
        self._listen_to_signals()
        self._client = Client()
        self._server = server = self._make_server()
        metrics = Server(exposing.Exposition(self._numbers), exposing.SETTINGS)
        if self._file is not None:
            await self._read_again(self._file)  # it may have changed since the start
        duties = [asyncio.create_task(duty) for duty in (self._follow(), self._share())]
        await server.listen(self._sockets.requests)
        if self._sockets.metrics is not None:
            await metrics.listen(self._sockets.metrics)
        LOG.info("the router serves", extra={"keys": {"nodes": len(self._spec.nodes)}})
        await self._until_the_end(server)
        for duty in duties:
            duty.cancel()
        await asyncio.gather(*duties, return_exceptions=True)
        metrics.close()
        self._client.close()
        self._log_rest()
        LOG.info("the router has ended")

    # The graph.

    def _make_server(self) -> Server:
        plan = self._plan
        watcher: Watcher = self._counts
        if plan.access_log:
            watcher = AccessLog(watcher)
        self._watcher = watcher
        engine = plan.build(plan.spec, upstream=self._client, observe=self._counts)
        return Server(
            engine,
            self._settings(plan.spec),
            admission=_admission(plan),
            watcher=watcher,
        )

    def _settings(self, spec: Spec) -> settings.Settings:
        plan = self._plan
        return settings.of_graph(spec, plan.compat, max_request_bytes=plan.max_request_bytes)

    async def _follow(self) -> None:
        """Take over the graph of the file whenever it is another one."""
        while self._file is not None:
            await asyncio.sleep(LOOK)
            if self._has_changed(self._file):
                await self._read_again(self._file)

    def _has_changed(self, file: GraphFile) -> bool:
        """Whoever takes the file away is told once: the graph lives on until the next start."""
        try:
            changed = file.has_changed()
        except OSError as fault:
            if not self._is_gone and self._number == 0:
                keys = {"file": file.name, "error": fault.strerror}
                LOG.warning(
                    "the file of the graph is gone, the old one stays", extra={"keys": keys}
                )
            self._is_gone = True
            return False
        if self._is_gone and self._number == 0:
            LOG.info("the file of the graph is back", extra={"keys": {"file": file.name}})
        self._is_gone = False
        return changed

    async def _read_again(self, file: GraphFile) -> None:
        """Read in a thread, for a large file takes seconds that requests would wait.

        Whatever a file may cause, it must not end the looking: the next one may be good.
        """
        try:
            text, graph = await asyncio.to_thread(self._read, file)
            spec = graph.spec
            self._warn(graph.unknown)
            if spec == self._spec:
                return
            engine = self._plan.build(spec, upstream=self._client, observe=self._counts)
            limits = self._settings(spec)
        except Exception as fault:
            self._counts.reloads["refused"] += 1
            LOG.error(  # noqa: TRY400 - it is the graph's fault
                "the new graph is refused, the old one stays", extra={"keys": _why(fault)}
            )
            return
        self._spec = spec
        self._server.replace(engine, limits)
        if self._shared is not None:
            self._shared.keep(self._number, text)
        self._counts.reloads["taken"] += 1
        LOG.info("another graph is served", extra={"keys": {"nodes": len(spec.nodes)}})

    def _read(self, file: GraphFile) -> tuple[bytes, graphs.Graph]:
        text = file.read()
        return text, graphs.parse(text, self._plan.compat, name=file.name)

    def _warn(self, unknown: tuple[str, ...]) -> None:
        """Tell of unknown fields that are not those of before; one process is enough."""
        if unknown != self._unknown and self._number == 0:
            graphs.warn(unknown)
        self._unknown = unknown

    # The numbers.

    def _numbers(self) -> Snapshot:
        """Over all processes; this one's as they are now."""
        self._counts.waiting = self._server.admission.waiting
        if self._shared is None:
            return self._counts.snapshot()
        self._shared.write(self._number, self._counts.snapshot())
        return total(self._shared.all())

    async def _share(self) -> None:
        """Show the numbers to the process that is asked for them."""
        first = os.getppid()
        while self._shared is not None:
            await asyncio.sleep(SHARE)
            if os.getppid() != first:  # nobody is left who would tell
                self._signals.put_nowait(signal.SIGTERM)
                first = os.getppid()
            self._counts.waiting = self._server.admission.waiting
            self._shared.write(self._number, self._counts.snapshot())

    def _log_rest(self) -> None:
        if isinstance(self._watcher, AccessLog):
            self._watcher.flush()

    # The end.

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._signals.put_nowait, number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    async def _until_the_end(self, server: Server) -> None:
        """A signal; then a while unready but serving; then only what runs.

        An interrupt is from a terminal, where nobody has to be told first. A second signal
        ends the while, a third one everything.
        """
        number = await self._signals.get()
        server.stop_soon()
        seconds = self._plan.drain_seconds if number == signal.SIGTERM else 0.0
        another = "ends the drain at once" if seconds else "cuts off what runs"
        keys = {"drain_seconds": seconds, "another_signal": another}
        LOG.info("the router ends", extra={"keys": keys})
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._signals.get(), seconds)
        draining = asyncio.create_task(server.drain())
        enough = asyncio.create_task(self._signals.get())
        await asyncio.wait((draining, enough), return_when=asyncio.FIRST_COMPLETED)
        enough.cancel()
        if not draining.done():
            server.close()
            await draining


_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def _admission(plan: Plan) -> Admission:
    if plan.max_in_flight:
        return Admission(limit=plan.max_in_flight, queue=plan.queue)
    return Admission(limit=LEAST, most=MOST, queue=plan.queue)


def _why(fault: Exception) -> dict[str, object]:
    if isinstance(fault, Unfit):
        return {"faults": [text for text, _ in fault.faults]}
    return {"faults": [f"{type(fault).__name__}: {fault}"]}


def run(process: Callable[[], Process]) -> None:
    """A process on the fastest event loop there is."""

    async def main() -> None:
        await process().run()

    try:
        import uvloop  # noqa: PLC0415 - not on every system
    except ImportError:
        asyncio.run(main())
    else:
        uvloop.run(main())
