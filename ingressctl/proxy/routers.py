"""Routers of InferenceGraphs on this machine: a process each, beside Envoy.

Their steps are called where `up` serves them: a Service at its backend or stub, another graph
at its router, an InferenceService that only a gateway knows through Envoy by its public host.
A change of a graph is a change of the file that its router follows.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlunsplit

import msgspec

from ingressctl.api import urls
from ingressctl.core.model import Service
from ingressctl.plan import graphs
from ingressctl.plan.graphs import Runnable
from ingressctl.providers.envoy.facts import Address
from ingressctl.proxy import envoy, launcher

START_SECONDS = 20.0
LET_GO_SECONDS = 3.0
"""How long a router runs on when its graph is gone: Envoy takes some moments to hear of it."""

AGAIN_SECONDS = 1.0
"""Until a router that ended is started again."""

HEADERS = "PROPAGATE_HEADERS"


@dataclass(slots=True)
class _Router:
    """One process. `folder` holds its graph and its log."""

    port: int
    folder: Path
    words: tuple[str, ...]
    environment: Mapping[str, str]
    running: asyncio.Task[None] | None = None


@dataclass(slots=True)
class Routers:
    """All routers of this run, by the Services that they stand behind."""

    warn: Callable[[str], None]
    _routers: dict[Service, _Router] = field(default_factory=dict)
    _left: list[_Router] = field(default_factory=list)
    _ending: set[asyncio.Task[None]] = field(default_factory=set)
    _folder: Path | None = None

    @property
    def any(self) -> bool:
        """Whether there is a graph."""
        return bool(self._routers)

    def claim(self, wanted: Iterable[Service]) -> None:
        """Give each Service an address, before any graph is known."""
        for service in wanted:
            if service not in self._routers:
                self._routers[service] = self._made(service)

    def address(self, service: Service) -> Address | None:
        """Where the router behind a Service answers; None if no graph stands there."""
        router = self._routers.get(service) or self._routers.get(graphs.without_revision(service))
        return Address("127.0.0.1", router.port) if router is not None else None

    async def serve(self, wanted: Mapping[Service, Runnable], *, compat: str) -> None:
        """Run these graphs. Others go when `let_go` says so. Raises envoy.EnvoyFault."""
        self._left += [self._routers.pop(one) for one in self._routers.keys() - wanted.keys()]
        for service, graph in wanted.items():
            router = self._routers[service]
            _write(router.folder / "graph.json", msgspec.json.encode(graph.spec))
            environment = _environment(graph, compat)
            if router.running is not None and router.environment != environment:
                await self._halt(router)  # it has its own at its start alone
            if router.running is None:
                router.environment = environment
                router.running = asyncio.create_task(self._run(service, router))
                await self._ready(service, router)

    def let_go(self) -> None:
        """No new request leads to the graphs that are gone: they end when the last is over."""
        left, self._left = self._left, []
        for router in left:
            self._ending.add(asyncio.create_task(self._end(router, after=LET_GO_SECONDS)))

    async def stop(self) -> None:
        """End all of them."""
        for task in self._ending:
            task.cancel()
        await asyncio.gather(*self._ending, return_exceptions=True)
        for router in (*self._routers.values(), *self._left):
            await self._end(router)
        self._routers.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _made(self, service: Service) -> _Router:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="ingressctl-graphs-"))
        # One of the same graph may be leaving still, so a name of its own.
        prefix = f"{service.namespace}.{service.name}-"
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=self._folder))
        port = envoy.claim_port(0)
        words = (
            *(sys.executable, "-I", "-S", launcher.__file__, str(os.getpid()), sys.executable),
            *("-m", "ingressctl", "router", "--graph-file", str(folder / "graph.json")),
            *("--port", str(port), "--metrics-port", "0", "--drain-seconds", "0"),
            *("--log-format", "text"),
        )
        return _Router(port, folder, words, {})

    async def _run(self, service: Service, router: _Router) -> None:
        """Keep a process going until the task is cancelled."""
        while True:
            with (router.folder / "log").open("ab") as log:
                process = await asyncio.create_subprocess_exec(
                    *router.words,
                    env=router.environment,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # a Ctrl-C is ours to handle
                )
            try:
                code = await process.wait()
            except asyncio.CancelledError:
                with contextlib.suppress(ProcessLookupError):
                    process.terminate()
                await process.wait()
                raise
            self.warn(f"the router of {service.name} ended with {code}: {_last_words(router)}")
            await asyncio.sleep(AGAIN_SECONDS)

    async def _ready(self, service: Service, router: _Router) -> None:
        end = asyncio.get_running_loop().time() + START_SECONDS
        while not await asyncio.to_thread(_is_ready, router.port):
            if asyncio.get_running_loop().time() > end:
                raise envoy.EnvoyFault(
                    f"the router of {service.name} does not start: {_last_words(router)}",
                    "see what ingressctl check says of the graph",
                )
            await asyncio.sleep(0.05)

    async def _end(self, router: _Router, *, after: float = 0.0) -> None:
        try:
            await asyncio.sleep(after)
        finally:
            await self._ended(router)

    async def _ended(self, router: _Router) -> None:
        await self._halt(router)
        shutil.rmtree(router.folder, ignore_errors=True)

    async def _halt(self, router: _Router) -> None:
        running, router.running = router.running, None
        if running is not None:
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running


@dataclass(frozen=True, slots=True)
class Places:
    """Where what a step calls is served on this machine.

    `addresses` are of a Service and port; `public` is the public host of an InferenceService or
    graph, "" if it has none; `envoy` is Envoy's port.
    """

    addresses: Callable[[Service, int], tuple[Address, ...]]
    public: Callable[[Service], str]
    envoy: int
    cluster_domain: str

    def url(self, url: str) -> str:
        """The URL to call in place of one; what is not of the cluster stays."""
        named = service_of(url, self.cluster_domain)
        if named is None:
            return url
        found, host = self.addresses(*named), self.public(named[0])
        if not (found or host):
            return url
        place = _netloc(found[0]) if found else f"{host}.localhost:{self.envoy}"
        parts = urls.read(url)
        return urlunsplit(("http", place, parts.path, parts.query, ""))


def called(wanted: Iterable[Runnable], cluster_domain: str) -> Iterator[tuple[Service, int]]:
    """The Services of the cluster that graphs call, with ports."""
    for graph in wanted:
        named = (service_of(url, cluster_domain) for url in graphs.urls(graph.spec))
        yield from filter(None, named)


def service_of(url: str, cluster_domain: str) -> tuple[Service, int] | None:
    """The Service and port that a URL names; None for a host that is not of the cluster."""
    try:
        place = urls.read(url)
    except urls.BadUrl:
        return None
    name, _, rest = place.host.lower().removesuffix(f".{cluster_domain}").partition(".")
    namespace, dot, svc = rest.partition(".")
    if not dot or svc != "svc":
        return None
    return Service(namespace, name), place.port


def _netloc(address: Address) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"{host}:{address.port}"


def _environment(graph: Runnable, compat: str) -> dict[str, str]:
    """That of a router in a cluster: this one's own PROPAGATE_HEADERS are not meant."""
    kept = {name: text for name, text in os.environ.items() if name != HEADERS}
    given = {} if graph.propagate is None else {HEADERS: graph.propagate}
    return {**kept, **given, "INGRESSCTL_COMPAT": compat}


def _write(path: Path, text: bytes) -> None:
    """In one step, for the router may read at any moment; not when nothing differs."""
    if path.exists() and path.read_bytes() == text:
        return
    new = path.with_suffix(".new")
    new.write_bytes(text)
    new.replace(path)


def _is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def _last_words(router: _Router) -> str:
    try:
        lines = (router.folder / "log").read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    return " ".join(lines[-3:]) or "it left no message"
