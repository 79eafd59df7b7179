"""Free ports, all of one bed chosen together.

Below the range from which the kernel takes the ports of outgoing connections: a port of that
range can be taken between its choice and the start of the part that wants it.
"""

from __future__ import annotations

import contextlib
import random
import socket

LOWEST, HIGHEST = 20_000, 32_000


def free(count: int, address: str = "127.0.0.1") -> list[int]:
    """So many different ports that nobody listens on."""
    found: list[int] = []
    with contextlib.ExitStack() as held:
        while len(found) < count:
            port = random.randint(LOWEST, HIGHEST)
            with contextlib.suppress(OSError):
                # Without SO_REUSEADDR: a port whose last connections linger is not free either.
                held.enter_context(contextlib.closing(_bound(address, port)))
                found.append(port)
    return found


def _bound(address: str, port: int) -> socket.socket:
    taken = socket.socket()
    try:
        taken.bind((address, port))
    except OSError:
        taken.close()
        raise
    return taken
