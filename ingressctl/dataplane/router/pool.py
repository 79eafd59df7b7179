"""Connections to one place, and where that is."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from ingressctl.dataplane.router.calling import Caller
from ingressctl.dataplane.router.deadlines import Deadlines
from ingressctl.dataplane.router.heads import Heads
from ingressctl.dataplane.router.ports import StepFailed
from ingressctl.dataplane.router.replies import Known
from ingressctl.dataplane.router.resolving import Resolver

T = TypeVar("T")

IDLE = 4.0
"""An idle connection is closed before model servers do so, of which many wait for 5 s."""

CONNECT = 10.0
"""How long connecting may take, over all addresses."""

ATTEMPT = 2.0
"""How long one address may take while there are others."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a connection leads to. `tls` is the context, None for plain text."""

    host: str
    port: int
    tls: ssl.SSLContext | None


class Pool:
    """Idle connections to one place; the one that was used last is used first."""

    def __init__(self, place: Place, resolver: Resolver, deadlines: Deadlines, limit: int) -> None:
        self.loop = asyncio.get_running_loop()
        self.deadlines = deadlines
        self.limit = limit
        self.idle: list[Caller] = []
        self.heads = Heads[Known]()
        self._place = place
        self._resolver = resolver
        self._turn = 0

    async def connect(self, until: float | None) -> Caller:
        """A new connection. Raises StepFailed."""
        place = self._place

        async def attempt(address: str, port: int) -> Caller:
            caller = Caller(self)
            try:
                await self.loop.create_connection(
                    lambda: caller,
                    address,
                    port,
                    ssl=place.tls,
                    server_hostname=place.host if place.tls else None,
                )
            except asyncio.CancelledError:
                caller.unwanted()
                raise
            return caller

        return await self.reach(attempt, until)

    async def reach(self, attempt: Callable[[str, int], Awaitable[T]], until: float | None) -> T:
        """The first address at which an attempt succeeds. Raises StepFailed."""
        now = self.loop.time()
        last = now + CONNECT
        if until is not None and until <= now:
            raise StepFailed("late", "there was no time left for the step", sent=False)
        try:
            async with asyncio.timeout_at(last if until is None else min(last, until)):
                return await self._first(attempt)
        except TimeoutError:
            if until is not None and self.loop.time() >= until:
                raise StepFailed("late", "the step did not answer in time", sent=False) from None
            raise StepFailed("unreachable", "connecting took too long", sent=False) from None
        except ssl.SSLError as fault:
            text = f"the step's TLS is refused: {_reason(fault)}"
            raise StepFailed("unreachable", text, sent=False) from None
        except socket.gaierror:
            text = f"the name {self._place.host} does not resolve"  # as the graph has it (F75)
            raise StepFailed("unreachable", text, sent=False) from None
        except OSError as fault:
            text = f"the step cannot be reached: {_said(fault)}"
            raise StepFailed("unreachable", text, sent=False) from None

    async def _first(self, attempt: Callable[[str, int], Awaitable[T]]) -> T:
        addresses = await self._resolver.addresses(self._place.host)
        self._turn += 1
        start = self._turn % len(addresses)
        *others, last = addresses[start:] + addresses[:start]
        for address in others:
            with contextlib.suppress(OSError):  # a TimeoutError is one
                async with asyncio.timeout(ATTEMPT):
                    return await attempt(address, self._place.port)
        return await attempt(last, self._place.port)

    def give_back(self, caller: Caller) -> None:
        """A connection is free."""
        caller.deadline = self.loop.time() + IDLE
        self.idle.append(caller)

    def forget(self, caller: Caller) -> None:
        """A connection is of no more use."""
        if caller in self.idle:
            self.idle.remove(caller)

    def close(self) -> None:
        """End what is idle."""
        for caller in tuple(self.idle):
            caller.abort()


def _reason(fault: ssl.SSLError) -> str:
    verify = getattr(fault, "verify_message", "")
    return str(verify or fault.reason or "no agreement").replace("_", " ").lower()


def _said(fault: OSError) -> str:
    """What the system says, without the address that Python adds."""
    return os.strerror(fault.errno).lower() if fault.errno else "it is not known why"
