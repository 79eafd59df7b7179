"""`ingressctl up`: the routes of files, served on this machine by an Envoy of our own.

Files are read, derived as `preview` derives them, and given to Envoy; then they are
followed. A change that cannot be served whole is refused with its reasons, and what was
served before goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ingressctl.api.refs import Ref
from ingressctl.core import findings
from ingressctl.core.outcome import Fault, Finding
from ingressctl.plan import serving
from ingressctl.plan.serving import Served
from ingressctl.providers.envoy import names, places, snapshot
from ingressctl.proxy import backends, envoy, follow, texts
from ingressctl.proxy.backends import Backend, LocalFacts
from ingressctl.proxy.local import Input, Local
from ingressctl.proxy.serving import Gateway
from ingressctl.proxy.store import Refusal

SHOWN = 20
"""Hosts, and losses of a provider, listed at the start; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why input cannot be served, what to do, and where it stands."""

    text: str
    remedy: str = ""
    where: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.text}" if self.where else self.text


class Refused(Exception):
    """Input that cannot be served, with every reason."""

    def __init__(self, reasons: tuple[Reason, ...]) -> None:
        self.reasons = reasons
        super().__init__("; ".join(map(str, reasons)))


@dataclass(frozen=True, slots=True)
class Options:
    """What the person asked for. `paths` are followed; `load` reads them anew.

    `load` raises Refused with what is wrong with the files.
    """

    load: Callable[[], Input]
    paths: tuple[str, ...] = ()
    recursive: bool = False
    port: int = 8080
    address: str = "127.0.0.1"
    backends: tuple[Backend, ...] = ()
    stub: bool = False


@dataclass(slots=True)
class Up:
    """One run. `talk` and `warn` get lines for people, `lines` makes them of a finding.

    Somebody who asked for quiet hears what `warn` gets.
    """

    options: Options
    talk: Callable[[str], None]
    warn: Callable[[str], None]
    lines: Callable[[Finding], Iterable[str]]
    local: Local = field(init=False)
    book: snapshot.Book | None = None
    _gateway: Gateway | None = None
    _input: Input | None = None
    _port: int = 0
    _said: tuple[str, ...] = ()
    _refusing: bool = False

    def __post_init__(self) -> None:
        self.local = Local(self.options.backends, stub=self.options.stub, warn=self.warn)

    def derive(self) -> Served:
        """The routes of the files as they are now. Raises Refused.

        An owner that cannot be derived is left out and told, unless it is served already or
        nothing else is left.
        """
        read = self._input = self.options.load()
        served = serving.served(
            read.laid, read.settings, now=datetime.now(UTC), providers=read.providers
        )
        if served.refused:
            raise Refused(tuple(map(_reason, served.refused)))
        known = self.book.owners if self.book else frozenset()
        if served.faults and (not served.routes or any(ref in known for ref, _ in served.faults)):
            raise Refused(tuple(_failed(served, *failed) for failed in served.faults))
        return served

    def resources(self, served: Served) -> snapshot.Resources:
        """The xDS resources without serving them, for a dump."""
        self.book = snapshot.Book(self.local.facts(served), self.options.port, self.options.address)
        self.book.replace(served.routes, self.book.facts)
        return self.book.resources

    def lost(self, served: Served) -> tuple[str, ...]:
        """Lines on what the configured providers would lose of what is served."""
        assert self._input is not None
        read, told = self._input, []
        by_provider = serving.losses(
            served, read.settings, now=datetime.now(UTC), providers=read.providers
        )
        for name, found in by_provider.items():
            told.append(texts.lossy(name))
            told += [line for finding in found[:SHOWN] for line in self.lines(finding)]
            told += [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        return tuple(told)

    async def run(self, stop: asyncio.Event) -> None:
        """Serve until `stop`. Raises Refused for the first input, EnvoyFault afterwards."""
        seen = follow.signature(self.options.paths, recursive=self.options.recursive)
        served = self.derive()
        port = self._port = envoy.claim_port(self.options.port, self.options.address)
        gateway = self._gateway = Gateway(self._refused)
        try:
            facts = await self._running(served)
            self.book = snapshot.Book(facts, port, self.options.address)
            self.book.replace(served.routes, facts)
            await gateway.start(self.book.resources)
            for line in await asyncio.to_thread(self.lost, served):
                self.warn(line)
            self._announce(served, port)
            await self._serve(gateway, stop, seen)
        finally:
            # Stubs first: they may hold every file that this process may open.
            await self.local.stop()
            await gateway.stop()

    async def _serve(self, gateway: Gateway, stop: asyncio.Event, seen: follow.Signature) -> None:
        """Follow the files until told to stop or Envoy ends."""
        following = asyncio.create_task(self._follow(seen))
        ended = asyncio.create_task(gateway.envoy.ended())
        stopped = asyncio.create_task(stop.wait())
        tasks = (following, ended, stopped)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if ended.done():
                words = gateway.envoy.last_words() or "it left no message"
                raise envoy.EnvoyFault(
                    f"Envoy ended with {ended.result()}: {words}", "start the command again"
                )
            if following.done():
                following.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, seen: follow.Signature) -> None:
        changes = follow.changes(self.options.paths, recursive=self.options.recursive, seen=seen)
        async with contextlib.aclosing(changes):
            async for _ in changes:
                await self._take()

    async def _take(self) -> None:
        """Serve the files as they are now, or say why not."""
        try:
            # In a thread: thousands of services take seconds, and stubs live in this loop.
            served = await asyncio.to_thread(self.derive)
            facts = await self._running(served)
        except Refused as refused:
            for reason in refused.reasons:
                self.warn(f"refused: {reason}")
            self.warn("the last good routes go on being served")
            self._refusing = True
            return
        assert self.book is not None
        assert self._gateway is not None
        before = self._hosts()
        changes = self.book.replace(served.routes, facts)
        self._gateway.server.publish(changes)
        self.local.published()
        self._say_findings(served)
        if self._refusing:
            self.warn("the files are good again")
            self._refusing = False
        if changes:
            self.talk(texts.change(before, self._hosts()))
        if before:
            self._warn_without_hosts(served)

    async def _running(self, served: Served) -> LocalFacts:
        """With all that has to run beside Envoy. Raises Refused, EnvoyFault."""
        assert self._input is not None
        try:
            return await self.local.running(served, self._input, self._port)
        except OSError as error:
            raise Refused((_no_stub(error),)) from None

    def _refused(self, refusal: Refusal) -> None:
        what = ", ".join(refusal.names[:3]) or refusal.type.rpartition(".")[2]
        self.warn(f"Envoy refused {what}: {refusal.message}")
        self.warn("the last good configuration goes on being served")

    def _announce(self, served: Served, port: int) -> None:
        self._say_findings(served)
        hosts = self._hosts()
        address = self.options.address
        place = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        self.talk(f"serving {texts.counted(hosts)} at http://{place}")
        for host in hosts[:SHOWN]:
            self.talk(f"  {host}")
        if len(hosts) > SHOWN:
            self.talk(f"  and {len(hosts) - SHOWN} more")
        if hosts:
            body = """ -d '{"instances": [[1]]}'""" if self.local.has_graphs else ""
            self.talk(f"try: curl -H 'Host: {hosts[0]}'{body} http://{place}/")
        self._warn_without_hosts(served)
        assert self.book is not None
        assert isinstance(self.book.facts, LocalFacts)
        for told in backends.idle(self.book.upstreams, self.book.facts):
            self.warn(f"warning: --backend {told}: no route leads to such a Service")
        for target in backends.unserved(self.book.upstreams, self.book.facts):
            service = target.partition(":")[0]
            self.talk(f"nothing serves {target}: --backend {service}=HOST:PORT, or --stub")

    def _warn_without_hosts(self, served: Served) -> None:
        if not self._hosts():
            for text in texts.without_hosts(served):
                self.warn(text)

    def _hosts(self) -> list[str]:
        assert self.book is not None
        return sorted(place.host for place in self.book.asking if place.listener == names.PUBLIC)

    def _say_findings(self, served: Served) -> None:
        """Each thing once, until it is said no longer."""
        failed = [(f"not served: {_failed(served, *item)}", True) for item in served.faults]
        shared = places.conflicts(self.book.asking) if self.book else ()
        found = [
            ("\n".join(self.lines(finding)), findings.is_loud(finding))
            for finding in (*served.findings, *shared)
        ]
        for text, loud in (*failed, *found):
            if text not in self._said:
                (self.warn if loud else self.talk)(text)
        self._said = tuple(text for text, _ in (*failed, *found))


def _reason(finding: Finding) -> Reason:
    """What admission says, at the object it says it of."""
    place = f"{finding.refs[0]}: " if finding.refs else ""
    where = str(finding.origin) if finding.origin else ""
    return Reason(place + findings.message(finding), findings.remedy(finding), where)


def _no_stub(error: OSError) -> Reason:
    return Reason(
        f"a stub cannot be started: {error.strerror or error}",
        "raise the limit of open files (ulimit -n), or serve fewer files at a time",
    )


def _failed(served: Served, ref: Ref, fault: Fault) -> Reason:
    """The fault, with the remedy of the finding that tells the same."""
    path = f"{fault.path}: " if fault.path else ""
    remedies = (
        findings.remedy(finding)
        for finding in served.findings
        if finding.refs[:1] == (ref,) and findings.message(finding) in fault.message
    )
    remedy = next(remedies, "correct what the message names")
    return Reason(f"{ref}: {path}{fault.message}", remedy)
