"""Names of steps to addresses, kept for a moment.

A cluster's name server would be asked for each connection otherwise. When it fails, what it
said last is better than nothing.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from typing import NamedTuple

FRESH = 5.0
"""How long an answer is used without asking again."""


class _Known(NamedTuple):
    addresses: list[str]
    until: float


class Resolver:
    """Asks the system, once at a time for a name."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lookup = self._loop.getaddrinfo
        self._known: dict[str, _Known] = {}
        self._asking: dict[str, asyncio.Task[list[str]]] = {}

    async def addresses(self, host: str) -> list[str]:
        """All addresses of a host, the system's order. Raises OSError."""
        if _is_address(host):
            return [host]
        if host == "localhost" or host.endswith(".localhost"):
            return ["127.0.0.1"]  # RFC 6761 6.3; not every system's resolver knows it
        known = self._known.get(host)
        if known is not None and known.until > self._loop.time():
            return known.addresses
        task = self._asking.get(host)
        if task is None:
            task = self._asking[host] = self._loop.create_task(self._ask(host))
            task.add_done_callback(lambda done: self._answered(host, done))
        try:
            return await asyncio.shield(task)
        except OSError:
            if known is not None:
                return known.addresses
            raise

    async def _ask(self, host: str) -> list[str]:
        found = await self._lookup(host, None, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(address[0]) for *_, address in found))
        self._known[host] = _Known(addresses, self._loop.time() + FRESH)
        return addresses

    def _answered(self, host: str, task: asyncio.Task[list[str]]) -> None:
        self._asking.pop(host, None)
        if not task.cancelled():
            task.exception()  # whoever asked may have left, and then nobody else looks

    def close(self) -> None:
        """Ask no more."""
        for task in tuple(self._asking.values()):
            task.cancel()


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
