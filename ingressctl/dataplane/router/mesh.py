"""Whether a sidecar of a mesh encrypts what this process sends.

Then a call of an https URL goes out as plain http, for it would be encrypted twice otherwise
(F67). The sidecar is known by HTTP 200 on its administration port; a refused connection means
that there is none, for a moment, since it may start later. Anything else tells nothing, and
is not remembered.
"""

from __future__ import annotations

import asyncio

from ingressctl.dataplane.router.ports import Target

PORT = 15000
PATIENCE = 3.0
AGAIN = 10.0
"""How long "none" is believed."""


class Mesh:
    """Asks when it has to, and once for all who want to know."""

    def __init__(self, port: int = PORT) -> None:
        self._loop = asyncio.get_running_loop()
        self._port = port
        self._there = False
        self._none_until = 0.0
        self._asking: asyncio.Task[None] | None = None

    async def there(self) -> bool:
        """Whether there is a sidecar."""
        if self._there or self._loop.time() < self._none_until:
            return self._there
        if self._asking is None:
            self._asking = self._loop.create_task(self._ask())
        await asyncio.shield(self._asking)
        return self._there

    async def _ask(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                self._there = await self._status() == b"200"
        except ConnectionRefusedError:
            self._none_until = self._loop.time() + AGAIN
        except OSError:  # a TimeoutError is one
            pass
        finally:
            self._asking = None

    async def _status(self) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return (await reader.read(12))[9:]
        finally:
            writer.close()

    def close(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()


def in_plain(target: Target) -> Target:
    """The target as its http URL would have it: the port is kept where one is written."""
    written = target.authority.endswith(b":%d" % target.port)
    return Target(
        host=target.host,
        port=target.port if written else 80,
        path=target.path,
        authority=target.authority,
        tls=False,
        h2c=target.h2c,
    )
